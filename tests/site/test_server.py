"""The server behind the tests of the site: a green run prints no traceback."""

import pytest

from tests.site.conftest import Server


@pytest.mark.parametrize(
    ("error", "printed"), [(BrokenPipeError, False), (ConnectionResetError, False), (OSError, True)]
)
def test_a_browser_that_leaves_early_is_no_error(capsys, error, printed):
    with Server(("127.0.0.1", 0), None) as server:
        try:
            raise error
        except OSError:
            server.handle_error(None, ("127.0.0.1", 1))
    assert ("Traceback" in capsys.readouterr().err) == printed
