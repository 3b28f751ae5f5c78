"""The resolver: the names of classes to the classes of this process."""

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from types import ModuleType

from verdog_runtime.values.classes import MAIN, find_class
from verdog_runtime.values.errors import TypeMismatch, UntrustedValue

_FOREIGN = ("/site-packages/", "/dist-packages/")


class Resolver:
    """Finds classes by module and qualified name.

    Declared classes come first, then modules that are loaded, then the project's own modules, which are
    imported when needed. Only a trusted resolver imports other modules, and only it lets blobs be loaded.
    """

    def __init__(
        self,
        declared: Iterable[type] = (),
        *,
        project: str = "",
        main_module: str | None = None,
        trusted: bool = False,
    ) -> None:
        """Remember where to look.

        Args:
            declared: classes that the graph declares for its inputs, parameters and state.
            project: the absolute directory whose modules may be imported; empty for none.
            main_module: the name that stands for the module `__main__` of this process, if it stands for one.
            trusted: whether the values were made on this machine or by somebody who is trusted.
        """
        self.trusted = trusted
        self._project = project.rstrip("/") + "/" if project else ""
        self._main_module = main_module
        self._declared: dict[tuple[str, str], type] = {}
        for cls in declared:
            module = main_module if cls.__module__ == MAIN and main_module else cls.__module__
            self._declared[module, cls.__qualname__] = cls

    def resolve(self, module: str, qualname: str) -> type:
        """Return the class of this name.

        Raises:
            TypeMismatch: there is none.
            UntrustedValue: it is in a module that would have to be imported from outside the project.
        """
        known = self._declared.get((module, qualname))
        if known is not None:
            return known
        try:
            found = find_class(self._find_module(module, qualname), qualname)
        except (AttributeError, ImportError) as error:  # from the module's own __getattr__
            raise TypeMismatch(f"{module}:{qualname}", f"a stored value is of this type; {error}") from error
        if not isinstance(found, type):
            raise TypeMismatch(
                f"{module}:{qualname}", "a stored value is of this type, which is not there any more"
            )
        return found

    def _find_module(self, module: str, qualname: str) -> ModuleType:
        loaded = sys.modules.get(module)
        if module == self._main_module and (loaded is None or find_class(loaded, qualname) is None):
            # The graphs that a script makes plant modules below its name, and so an empty one of this name.
            loaded = sys.modules.get(MAIN)
        if loaded is not None:
            return loaded
        name = f"{module}:{qualname}"
        if not all(part.isidentifier() for part in module.split(".")):
            raise TypeMismatch(name, "a stored value is of this type, whose module has no legal name")
        if not self.trusted and not self._is_own(module.partition(".")[0]):
            raise UntrustedValue(
                f"{name}: a stored value is of this type, whose module is outside the project and not "
                "loaded; it is imported only for a run that is trusted"
            )
        try:
            return importlib.import_module(module)
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}"
            raise TypeMismatch(
                name, f"a stored value is of this type, whose module does not load ({reason})"
            ) from error

    def _is_own(self, package: str) -> bool:
        """Whether a top-level module is a file of the project. Finding it runs nothing of it."""
        try:
            spec = importlib.util.find_spec(package)
        except (ImportError, ValueError):
            return False
        if spec is None or not self._project:
            return False
        places = [spec.origin, *(spec.submodule_search_locations or ())]
        files = [place for place in places if place is not None]
        return all(place.startswith(self._project) for place in files) and not any(
            part in place for place in files for part in _FOREIGN
        )
