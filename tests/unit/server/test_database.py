"""Claims about the database: one writer, migrations, one server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from unhack.core.errors import UsageError
from unhack.server.database.database import Database, DatabaseTakenError
from unhack.server.database.migrate import migrate
from unhack.server.database.schema import metadata, tenants

from .requests import BOTH


@pytest.fixture
def empty(database: str | None, tmp_path: Path) -> Iterator[Database]:
    """A database without a table."""
    found = Database(database) if database else Database.in_folder(tmp_path)
    yield found
    found.close()


@pytest.fixture
def opened(empty: Database) -> Database:
    """A database with the tables."""
    migrate(empty.engine)
    return empty


def add(name: str) -> Any:
    return lambda connection: connection.execute(
        sa.insert(tenants).values(name=name, created_at=0.0)
    )


def end_sessions(by: Database) -> None:
    """End every other session with the database, as PostgreSQL does when it ends."""
    others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
    until = time.monotonic() + 60
    left = 1
    while left:
        assert time.monotonic() < until
        with by.engine.connect() as connection:
            connection.exec_driver_sql(f"SELECT pg_terminate_backend(pid) {others}").all()
        with by.engine.connect() as connection:
            left = connection.exec_driver_sql(f"SELECT count(*) {others}").scalar_one()


def names(database: Database) -> list[str]:
    asked = sa.select(tenants.c.name).order_by(tenants.c.name)
    return list(database.read(lambda connection: connection.execute(asked).scalars().all()))


@pytest.mark.parametrize("database", BOTH, indirect=True)
class TestDatabase:
    """On both databases."""

    def test_the_migrations_make_the_tables_of_the_schema(self, opened: Database) -> None:
        migrate(opened.engine)  # a second time changes nothing
        with opened.engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            assert compare_metadata(context, metadata) == []

    def test_a_write_that_fails_takes_no_other_with_it(self, opened: Database) -> None:
        done = [opened.write(add(f"t{n // 2:03}")) for n in range(100)]
        failed = [future for future in done if future.exception(60)]
        assert len(failed) == 50
        assert names(opened) == [f"t{n:03}" for n in range(50)]

    def test_a_caller_that_gives_up_stops_nothing(self, opened: Database) -> None:
        given_up: Future[Any] = opened.write(add("first"))
        assert not given_up.cancel()
        opened.write(add("second")).result(60)
        assert names(opened) == ["first", "second"]

    def test_a_database_has_one_server(self, opened: Database) -> None:
        opened.claim()
        second = Database(opened.engine.url.render_as_string(hide_password=False))
        with pytest.raises(UsageError, match="another server"):
            second.claim()
        second.close()
        opened.close()

    def test_a_server_that_lost_its_session_writes_under_the_lock_or_not_at_all(
        self, opened: Database
    ) -> None:
        if opened.engine.dialect.name != "postgresql":
            pytest.skip("a file's lock is the process's own")
        opened.claim()
        second = Database(opened.engine.url.render_as_string(hide_password=False))
        opened.write(add("before")).result(60)
        end_sessions(second)
        opened.write(add("again")).result(60)
        with pytest.raises(UsageError, match="another server"):
            second.claim()
        end_sessions(second)
        second.claim()
        refused = [opened.write(add(name)) for name in ("late", "later")]
        assert all(isinstance(each.exception(60), DatabaseTakenError) for each in refused)
        assert opened.is_taken
        second.write(add("second")).result(60)
        assert names(opened) == ["again", "before", "second"]
        second.close()
        until = time.monotonic() + 60
        while error := opened.write(add("third")).exception(60):  # its session ends a little later
            assert isinstance(error, DatabaseTakenError)
            assert time.monotonic() < until
            time.sleep(0.05)
        assert not opened.is_taken

    def test_a_reader_that_outlives_the_database_leaves_no_connection(
        self, opened: Database
    ) -> None:
        ended: list[Any] = []
        sa.event.listen(opened.engine, "close", lambda found, _: ended.append(found))
        sa.event.listen(opened.engine, "close_detached", ended.append)

        def late(connection: sa.Connection) -> Any:
            opened.close()
            assert connection.scalar(sa.select(sa.literal(1))) == 1
            return connection.connection.dbapi_connection

        assert opened.read(late) in ended

    def test_an_error_says_no_values(self, opened: Database) -> None:
        opened.write(add("a-value")).result(60)
        found = opened.write(add("a-value")).exception(60)
        assert "a-value" not in str(found).partition("DETAIL")[0]

    def test_a_database_of_a_newer_unhack_is_refused(self, opened: Database) -> None:
        change = "UPDATE alembic_version SET version_num = '9999'"
        opened.write(lambda connection: connection.exec_driver_sql(change)).result(60)
        with pytest.raises(UsageError, match=r"newer unhack \(its version is 9999\); update"):
            migrate(opened.engine)

    def test_a_migration_that_is_cut_leaves_the_database_as_it_was(
        self, empty: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with empty.engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE jobs (x INTEGER)")
        with pytest.raises(UsageError, match="has a table 'jobs' that unhack did not make"):
            migrate(empty.engine)
        monkeypatch.setattr("unhack.server.database.migrate._check", lambda *_: None)
        with pytest.raises(UsageError, match="already exists"):
            migrate(empty.engine)
        assert sa.inspect(empty.engine).get_table_names() == ["jobs"]
        with empty.engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE jobs")
        migrate(empty.engine)
        assert set(metadata.tables) < set(sa.inspect(empty.engine).get_table_names())


@pytest.mark.parametrize("version", ["0001", "0002", "0099"])
def test_the_versions_of_another_program_are_refused(tmp_path: Path, version: str) -> None:
    database = Database.in_folder(tmp_path)
    with database.engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{version}')")
        connection.exec_driver_sql("CREATE TABLE orders (id INTEGER)")
    with pytest.raises(UsageError, match="of another program"):
        migrate(database.engine)
    with database.engine.connect() as connection:
        found = set(sa.inspect(connection).get_table_names())
    database.close()
    assert found == {"alembic_version", "orders"}


def test_the_files_of_a_database_are_its_owners_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    database = Database.in_folder(tmp_path)
    migrate(database.engine)
    database.write(add("lab")).result()
    modes = {path.name: path.stat().st_mode & 0o077 for path in tmp_path.glob("unhack.sqlite*")}
    database.close()
    assert modes.pop("unhack.sqlite.lock") & 0o022 == 0  # it holds nothing
    assert set(modes.values()) == {0}
    assert "unhack.sqlite-wal" in modes


def test_an_empty_file_is_a_new_database_until_a_server_has_had_it(tmp_path: Path) -> None:
    file = tmp_path / "unhack.sqlite"
    file.touch()
    for _ in range(2):
        opened = Database.in_folder(tmp_path)
        migrate(opened.engine)
        opened.claim()
        opened.close()
    file.write_bytes(b"")
    for beside in tmp_path.glob("unhack.sqlite-*"):
        beside.unlink()
    with pytest.raises(UsageError, match="is empty, and a server has had it: restore it"):
        Database.in_folder(tmp_path)
    assert file.stat().st_size == 0
    (tmp_path / "unhack.sqlite.lock").unlink()
    Database.in_folder(tmp_path).close()


def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "unhack.sqlite"
    file.write_text("not a database, but somebody's notes, which are of some length " * 20)
    before = file.read_bytes()
    database = Database.in_folder(tmp_path)
    with pytest.raises(UsageError, match="names no database of unhack: file is not a database"):
        migrate(database.engine)
    database.close()
    assert file.read_bytes() == before


def test_a_closed_database_takes_no_write(tmp_path: Path) -> None:
    database = Database.in_folder(tmp_path)
    database.close()
    with pytest.raises(UsageError, match="closed"):
        database.write(lambda _: None)
