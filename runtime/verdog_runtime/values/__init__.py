"""The value codec: deterministic bytes for Python values, readable without running anything."""

from verdog_runtime.values.anchors import Anchor, Anchors
from verdog_runtime.values.build import decode_value
from verdog_runtime.values.encode import Encoded, encode_value
from verdog_runtime.values.errors import TypeMismatch, UnrestorableValue, UnserializableValue, UntrustedValue
from verdog_runtime.values.neutral import Neutral
from verdog_runtime.values.parse import decode_neutral
from verdog_runtime.values.resolver import Resolver
from verdog_runtime.values.show import find_blobs, format_neutral

__all__ = [
    "Anchor",
    "Anchors",
    "Encoded",
    "Neutral",
    "Resolver",
    "TypeMismatch",
    "UnrestorableValue",
    "UnserializableValue",
    "UntrustedValue",
    "decode_neutral",
    "decode_value",
    "encode_value",
    "find_blobs",
    "format_neutral",
]
