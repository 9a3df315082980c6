"""The watches of a reasoner, fed from the deltas that it publishes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from livefacts.engine.contract import TRIPLES, Engine, Ids
from livefacts.engine.flow.bags import Bag, add_to
from livefacts.engine.flow.dataflow import Dataflow
from livefacts.errors import NotIncrementalError
from livefacts.model.namespaces import DECLARED
from livefacts.service.change.delta import Delta
from livefacts.service.continuous.answers import Change
from livefacts.service.continuous.query_plans import plan_of
from livefacts.service.continuous.watch import Callback, Watch
from livefacts.service.continuous.watched_query import Bags, FollowedQuery, Incremental, Reevaluated
from livefacts.service.queries.fact_versions import FactVersions
from livefacts.service.queries.question import check_graphs
from livefacts.service.queries.results import QueryResult
from livefacts.store.versions.snapshots import NO_TRIPLES
from livefacts.syntax.sparql.query_shapes import shape_of

CALLED = (
    "this is an error of a callback of a watch: the change that it was called for has been made"
)


class Watching:
    """The watches of one reasoner."""

    def __init__(
        self,
        engine: Engine,
        versions: FactVersions,
        ask: Callable[[str, None, Mapping[str, str]], QueryResult],
        changing: threading.RLock,
    ) -> None:
        self._engine = engine
        self._versions = versions
        self._ask = ask
        self._changing = changing
        """Held by whoever changes something: a watch may be closed by any thread."""
        self._flow = Dataflow(engine.dictionary)
        self._watches: list[Watch] = []
        self._calls: deque[tuple[Callback, list[Change]]] = deque()
        self._calling = False
        self._quiet: dict[Watch, Bag] | None = None

    def watch(
        self,
        text: str,
        prefixes: Mapping[str, str],
        buffer: int,
        seq: int,
        on_change: Callback | None = None,
    ) -> Watch:
        """Begin to watch a query; who is called hears of the answers that there are, first."""
        made = Watch(text, self._followed(text, prefixes), prefixes, buffer, self._drop, seq)
        self._watches.append(made)
        if on_change is not None:
            made.on_change(on_change)(made.beginning())
        return made

    def _followed(self, text: str, prefixes: Mapping[str, str]) -> FollowedQuery:
        try:
            plan = plan_of(text, prefixes)
        except NotIncrementalError as error:
            return Reevaluated(partial(self._ask, text, None, prefixes), error.message)
        version = self._versions.version()
        dataset = shape_of(text, {**DECLARED, **prefixes}).bound.dataset
        if dataset is not None:
            check_graphs(dataset, version)
        standing = self._flow.add(plan, version.graphs)
        return Incremental(standing, self._engine.dictionary)

    def _drop(self, watch: Watch) -> None:
        with self._changing:
            is_here = any(each is watch for each in self._watches)
            self._watches = [each for each in self._watches if each is not watch]
            if is_here and isinstance(watch.followed, Incremental):
                self._flow.drop(watch.followed.standing)

    def follow(self, delta: Delta, seq: int, came: Ids, gone: Ids) -> None:
        """Take note of a change and of quads of named graphs; calls are made when it is complete."""
        if not self._watches:
            return
        added = delta.shown_added.get(TRIPLES, NO_TRIPLES)
        removed = delta.shown_removed.get(TRIPLES, NO_TRIPLES)
        with self._engine.dictionary.passing:
            applied = self._flow.apply(added, removed, came, gone)
            found = {id(standing): bag for standing, bag in applied}
        for watch in self._watches:
            followed = watch.followed
            bag: Bags
            if isinstance(followed, Incremental):
                bag = found.get(id(followed.standing), {})
            else:
                assert isinstance(followed, Reevaluated), "there is no third way"
                bag = followed.follow()
            self._assert(watch, bag, seq)

    def held_ids(self) -> Iterator[Ids]:
        """The ids that the steps of all watches keep; unread changes keep theirs themselves."""
        return self._flow.held_ids()

    def _assert(self, watch: Watch, bag: Bags, seq: int) -> None:
        if self._quiet is None:
            self._calls.extend(watch.advance(seq, bag))
            return
        net = self._quiet.setdefault(watch, {})
        for row, count in bag.items():
            add_to(net, row, count)

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Changes that are taken back again before anyone should hear of them."""
        self._quiet = {}
        try:
            yield
        finally:
            heard, self._quiet = self._quiet, None
            for watch, net in heard.items():
                if net:
                    self._assert(watch, net, watch.seq)

    @property
    def has_calls(self) -> bool:
        """Whether there are calls to make."""
        return bool(self._calls)

    def drop_calls(self) -> None:
        """Make no calls: the change is not on the disk, and no others will be made."""
        self._calls.clear()

    def call(self) -> None:
        """Make the calls that are due, in order; those that come up in a call wait for their turn."""
        if self._calling:
            return
        self._calling = True
        failures: list[BaseException] = []
        while self._calls:
            callback, changes = self._calls.popleft()
            try:
                callback(changes)
            except BaseException as error:
                # The change has happened, and the others must hear of it all the same.
                error.add_note(CALLED)
                failures.append(error)
        self._calling = False
        if failures:
            raise failures[0]
