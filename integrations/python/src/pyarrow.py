# The extension type bigint.any, for pyarrow to keep its name beside the bytes.
import pyarrow


class BigintAny(pyarrow.ExtensionType):
    """Integers of any lengths: magnitudes in little-endian bytes, and one byte 1 behind those of negative ones."""

    def __init__(self):
        super().__init__(pyarrow.large_binary(), "bigint.any")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type, serialized):
        return cls()


try:
    pyarrow.register_extension_type(BigintAny())
except pyarrow.ArrowKeyError:
    # Somebody has registered it.
    pass
