"""Compiled kernels: how hot loops become machine code, where it is kept, and prefetching.

Every kernel of the project is declared with `@kernel`.  Numba compiles it at its first
call and keeps the machine code in the user's cache directory, in a folder named after the
text of all modules with kernels and of what they import: a kernel that calls a changed kernel,
or uses a changed constant, is compiled again.
A kernel that another one calls becomes part of it, and is optimised only there.

This module imports Numba, which takes a third of a second: import it only from modules
that are themselves loaded when a store is first made.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

PACKAGE = Path(__file__).parent.parent
KERNEL_FOLDERS = ("store", "engine")
"""Where kernels are, at any depth, and the constants that they use."""
_HAS_KERNELS = re.compile(r"^@(kernel|inlined|intrinsic)\b", re.MULTILINE)
_IMPORT = re.compile(r"^\s*from livefacts\.([\w.]+) import (\([^)]*\)|.*)$", re.MULTILINE)


def user_cache_directory() -> Path:
    """Where this user's programs keep what can be made again."""
    chosen = os.environ.get("LIVEFACTS_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "livefacts"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "livefacts"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "livefacts"


def kernel_cache_directory() -> Path:
    """The folder of machine code made from the kernels as they are now, and where they are.

    Numba keeps machine code by the path of its source: another checkout has its own.
    """
    digest = hashlib.sha256(str(PACKAGE).encode())
    for name, text in sorted(kernel_sources().items()):
        digest.update(f"{name}\n{text}".encode())
    return user_cache_directory() / f"kernels-{digest.hexdigest()[:12]}"


def kernel_sources() -> dict[str, str]:
    """The texts of all modules with kernels, and of those that they import, by their names."""
    texts = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path.read_text("utf-8")
        for folder in KERNEL_FOLDERS
        for path in (PACKAGE / folder).rglob("*.py")
        if "spark" not in path.parts
    }
    waiting = [name for name, text in texts.items() if _HAS_KERNELS.search(text)]
    found: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        if name in texts and name not in found:
            found[name] = texts[name]
            for module, names in _IMPORT.findall(texts[name]):
                waiting += [module, *(f"{module}.{each}" for each in re.findall(r"\w+", names))]
    return found


CACHE = kernel_cache_directory()
os.environ["NUMBA_CACHE_DIR"] = str(CACHE)

import numba  # noqa: E402
import numpy as np  # noqa: E402
from llvmlite import ir  # noqa: E402
from numba import types  # noqa: E402
from numba.core import cgutils  # noqa: E402
from numba.core.codegen import JITCodeLibrary  # noqa: E402
from numba.core.compiler import Compiler  # noqa: E402
from numba.extending import intrinsic  # noqa: E402
from numba.np.arrayobj import make_array, populate_array  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

numba.config.CACHE_DIR = str(CACHE)  # type: ignore[attr-defined]

Function = TypeVar("Function", bound=Callable[..., Any])

_announced = False


# No kernel allocates, so none needs Numba's reference counts: without them, passing tables
# to inner kernels is free, and the closure of a million triples is five times faster.
_compile: Any = partial(
    numba.njit, nogil=True, error_model="numpy", no_cfunc_wrapper=True, _nrt=False
)


def kernel(function: Function) -> Function:
    """Compile this function at its first call; it runs without the interpreter lock."""
    return _whole(function, cache(partial(_part, function)))


def inlined(function: Function) -> Function:
    """A kernel that becomes part of each kernel that calls it.

    For what runs in innermost loops: a call that passes tables by value costs more than
    the few instructions it saves.
    """
    return _whole(function, cache(partial(_part, function, forceinline=True)))


def _whole(function: Function, part: Callable[[], Any]) -> Function:
    """What Python calls: machine code of its own.  A kernel that calls it takes the part."""
    dispatcher = _compile(function, cache=True)

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        # Numba would compile it again for every constant that is passed to it.
        return part().get_call_template(tuple(map(types.unliteral, arguments)), keywords)

    dispatcher.get_call_template = get_call_template
    dispatcher.get_overload = lambda signature: part().get_overload(signature)
    return dispatcher  # type: ignore[no-any-return]


def _part(function: Any, **options: Any) -> Any:
    """A function for kernels that call it, which are optimised as a whole and become code.

    Left to itself, Numba would do all of that for each function on the way: twice the work.
    """
    return _compile(function, no_cpython_wrapper=True, pipeline_class=_PartCompiler, **options)


class _PartLibrary(JITCodeLibrary):
    """Code in the compiler's own language, of which no machine code is made."""

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, env: Any) -> None:
        """There is nothing to run in an environment."""

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return 0

    def _optimize_final_module(self) -> None:
        """Those that it is part of are."""

    def _finalize_final_module(self) -> None:
        self._finalized = True


class _PartCompiler(Compiler):
    """Numba's compiler, into such a library."""

    def __init__(self, typing_context: Any, context: Any, library: Any, *arguments: Any) -> None:
        library = _PartLibrary(context.codegen(), "part")  # type: ignore[no-untyped-call]
        super().__init__(typing_context, context, library, *arguments)  # type: ignore[no-untyped-call]


def announce_compilation(*, is_certain: bool = False) -> None:
    """Say once, on standard error, that kernels are about to be compiled, if they are."""
    global _announced
    is_begun = any(CACHE.glob("*/*.nbi"))
    if _announced or (is_begun and not is_certain):
        return
    _announced = True
    which = "the other kernels" if is_begun else "kernels"
    print(f"livefacts: compiling {which}, once, a minute or so", file=sys.stderr, flush=True)


def _prefetch(typing_context: Any, address: Any) -> Any:
    signature = types.void(types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte_pointer = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        function = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte_pointer, number, number, number]),
            "llvm.prefetch.p0",
        )
        pointer = builder.inttoptr(arguments[0], byte_pointer)
        read, keep, data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(function, [pointer, read, keep, data])
        return context.get_dummy_value()

    return signature, generate


prefetch: Any = intrinsic(_prefetch)
"""Ask the processor to bring the cache line at an address; never faults."""


def _read_ticks(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module, ir.FunctionType(ir.IntType(64), []), "llvm.readcyclecounter"
        )
        return builder.call(function, [])

    return types.int64(), generate


read_ticks: Any = intrinsic(_read_ticks)
"""The processor's own clock, which costs some nanoseconds to read."""


def _loader(cell: Any) -> Any:
    @intrinsic
    def load(typing_context: Any, address: Any, index: Any) -> Any:
        signature = cell(types.int64, types.int64)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], context.get_data_type(cell).as_pointer())
            return builder.load(builder.gep(pointer, [arguments[1]]))

        return signature, generate

    return load


def _storer(cell: Any) -> Any:
    @intrinsic
    def store(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
        signature = types.void(types.int64, types.int64, cell)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], context.get_data_type(cell).as_pointer())
            builder.store(arguments[2], builder.gep(pointer, [arguments[1]]))
            return context.get_dummy_value()

        return signature, generate

    return store


load_int32 = _loader(types.int32)
"""The int32 at `address + 4 * index`."""
load_int64 = _loader(types.int64)
store_int32 = _storer(types.int32)
store_int64 = _storer(types.int64)


VECTOR = types.Array(types.int64, 1, "C")
_array: Any = make_array


def array_types(kind: type) -> list[types.Array]:
    """The types of the arrays in a named tuple, as its annotations say (`table_types`)."""
    hints = get_type_hints(kind, include_extras=True).values()
    return [_array_type(get_args(hint.__origin__)[1], *hint.__metadata__) for hint in hints]


def _array_type(cells: Any, dimensions: int) -> types.Array:
    dtype: Any = numba.from_dtype(np.dtype(*get_args(cells)))
    return types.Array(dtype, dimensions, "C")


def described(arrays: Iterable[Any]) -> list[int]:
    """Where arrays are and how long: what a reader of tables finds in a vector."""
    found: list[int] = []
    for array in arrays:
        found += (array.__array_interface__["data"][0], *array.shape)
    return found


def length_described(kind: type) -> int:
    """How many numbers describe the arrays of a named tuple."""
    return sum(1 + array.ndim for array in array_types(kind))


def place_described(kind: type, name: str) -> int:
    """Where the description of an array of a named tuple begins."""
    before = list(get_type_hints(kind)).index(name)
    return sum(1 + array.ndim for array in array_types(kind)[:before])


class Desk:
    """What Python calls kernels with: a vector that says where named tuples of arrays are.

    A call passes one vector instead of two dozen arrays, whose checking takes longer than a
    small change.  The caller keeps the arrays alive.
    """

    def __init__(self, *kinds: type) -> None:
        ends = accumulate(map(length_described, kinds))
        self._starts = dict(zip(kinds, (0, *ends), strict=False))
        self.length = sum(map(length_described, kinds))

    def readers(self) -> list[Any]:
        """For kernels: what reads each of the named tuples off the vector."""
        return [tables_reader(kind, start) for kind, start in self._starts.items()]

    def put(self, vector: NDArray[np.int64], tables: tuple[Any, ...]) -> None:
        """Let the vector describe this named tuple from now on."""
        start, numbers = self._starts[type(tables)], described(tables)
        vector[start : start + len(numbers)] = numbers


def tables_reader(kind: type, first: int = 0) -> Any:
    """What makes a named tuple of arrays out of its description in a vector."""
    arrays = array_types(kind)
    # As Numba sees the same tuple where Python passes it: a kernel has one type for both.
    result = types.BaseTuple.from_types(arrays, kind)  # type: ignore[no-untyped-call]

    @intrinsic
    def read(typing_context: Any, vector: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            numbers = _array(VECTOR)(context, builder, arguments[0]).data
            made, at = [], first
            for array in arrays:
                made.append(_array_at(context, builder, array, numbers, at))
                at += 1 + array.ndim
            return context.make_tuple(builder, result, made)

        return result(VECTOR), generate

    return read


def _array_at(context: Any, builder: Any, array: Any, numbers: Any, at: int) -> Any:
    """An array that owns nothing, from its description."""
    number = ir.IntType(64)
    address, *shape = (
        builder.load(builder.gep(numbers, [number(at + i)])) for i in range(1 + array.ndim)
    )
    cell = context.get_data_type(array.dtype)
    size = number(context.get_abi_sizeof(cell))
    strides = [size] if array.ndim == 1 else [builder.mul(size, shape[1]), size]
    made = _array(array)(context, builder)
    populate_array(
        made,
        data=builder.inttoptr(address, cell.as_pointer()),
        shape=cgutils.pack_array(builder, shape, ty=number),  # type: ignore[no-untyped-call]
        strides=cgutils.pack_array(builder, strides, ty=number),  # type: ignore[no-untyped-call]
        itemsize=size,
        meminfo=None,
    )
    return made._getvalue()
