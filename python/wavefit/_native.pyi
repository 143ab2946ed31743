"""cffi's compiled module. What its members are, the C library's header tells."""

from typing import Any, Callable, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

class _FFI:
    NULL: Any
    def def_extern(self, name: str = ..., error: Any = ...,
                   onerror: Callable[..., Any] = ...) -> Callable[[F], F]: ...
    def __getattr__(self, name: str) -> Any: ...

ffi: _FFI
lib: Any
