"""Content-addressed bytes: hashing, compression, chunking, storage, the artifact tree, capture, checkout."""
