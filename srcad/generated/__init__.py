"""The generated modules, `g_<hash of the content>`: this package's path is the cache folder."""

from srcad.runtime.diskcache import folder

__path__ = [str(folder())]
