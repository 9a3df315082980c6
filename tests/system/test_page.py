"""The page in a real browser: each view, what is live, what is wrong, and what the keyboard reaches."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.system.brokers import FETCH, PARTS
from tests.system.serving import Serving, serving

from livefacts.server import page as built

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
ROOT = Path(__file__).parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
IMAGES = ROOT / "docs" / "images"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("page"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.skipif(not built.is_built(), reason="the page is not built: it needs Node"),
]
expect.set_options(timeout=15_000)
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
ROOMS = f"""INSERT DATA {{
    <x:Sensor> <{RDFS}subClassOf> <x:Thing> . <x:in> <{RDFS}range> <x:Room> .
    <x:boiler> a <x:Sensor> ; <x:in> <x:cellar> ; <x:shows> 81 .
    <x:stove> a <x:Sensor> ; <x:in> <x:kitchen> ; <x:shows> 64 .
    <x:window> a <x:Sensor> ; <x:in> <x:kitchen> ; <x:shows> 17 }}"""
SHOWN = "SELECT ?sensor ?degrees { ?sensor <x:shows> ?degrees } ORDER BY ?sensor"

VIEWS = {
    "now": ("/stats", "now", ".plot canvas"),
    "ask": ("/sparql", "ask?query=SELECT ?s ?p ?o { ?s ?p ?o } LIMIT 5", "tbody tr"),
    "why": ("/explain", "why?fact=<x:boiler> a <x:Thing>", ".proof"),
    "why not": ("/explain", "why?fact=<x:attic> a <x:Room>", "[data-state]"),
    "what if": ("/preview", "what-if", "textarea"),
    "rules": ("/rules", "rules", "tbody tr"),
    "streams": ("/log", "streams", "summary"),
    "history": ("/changes", "history", "tbody tr"),
}
"""The path that a view needs, its address, and what it shows when it is ready."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page") / "kb"


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Serving]:
    with serving(folder, "--rules", "rdfs") as found:
        found.update(ROOMS)
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with (
        sync_playwright() as player,
        player.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as found,
    ):
        yield found


@pytest.fixture
def page(browser: Browser, server: Serving) -> Iterator[Page]:
    """A page of its own, which must not log an error, nor break the content security policy."""
    context = browser.new_context(
        base_url=server.url, locale="en-US", viewport={"width": 1280, "height": 900}
    )
    context.set_default_timeout(15_000)
    found = context.new_page()
    wrong: list[str] = []
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.on("console", lambda said: "Content Security" in said.text and wrong.append(said.text))
    yield found
    context.close()
    assert wrong == []


def ask(page: Page, query: str) -> None:
    """Type a query as people do."""
    page.goto("/#/ask")
    expect(page.locator(".editor[data-ready]")).to_be_visible()
    page.locator(".editor textarea").focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(query)


def violations(page: Page) -> list[str]:
    """What axe finds."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {node['html']}" for each in found["violations"] for node in each["nodes"]
    ]


def test_now_shows_figures_that_follow_a_change(page: Page, server: Serving) -> None:
    page.goto("/")
    facts = page.locator("[data-figure=facts]")
    before = server.get("/stats").json()["facts"]
    expect(facts).to_have_text(f"{before:,}")
    server.update("INSERT DATA { <x:lamp> a <x:Sensor> }")
    expect(facts).to_have_text(f"{server.get('/stats').json()['facts']:,}")
    expect(page.locator(".plot canvas").first).to_be_visible()
    picture(page, "now")


def test_a_query_is_answered_as_a_table_and_a_chart(page: Page) -> None:
    ask(page, SHOWN)
    page.keyboard.press("Control+Enter")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("x:boiler")
    expect(page.locator(".bar")).to_have_count(3)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    text = Path(download.value.path()).read_bytes()
    assert text == b"sensor,degrees\r\nx:boiler,81\r\nx:stove,64\r\nx:window,17\r\n"


def test_a_mistake_is_shown_where_it_stands(page: Page) -> None:
    ask(page, "SELECT ?x\nWHERE { ?x <x:shows> }")
    page.get_by_role("button", name="Run").click()
    trouble = page.get_by_role("alert")
    expect(trouble).to_contain_text("line 2")
    expect(page.locator(".editor .mistake").first).to_be_visible()


def test_rows_come_and_go_while_a_query_is_watched(page: Page, server: Serving) -> None:
    needs(server, "/watch")
    ask(page, SHOWN)
    page.get_by_role("button", name="Keep watching").click()
    expect(page.locator("tbody tr")).to_have_count(3)
    server.update("DELETE DATA { <x:stove> <x:shows> 64 } ; INSERT DATA { <x:stove> <x:shows> 99 }")
    expect(page.locator("tr.came")).to_contain_text("99")
    expect(page.locator("tr.went")).to_contain_text("64")
    picture(page, "ask")
    server.update("DELETE DATA { <x:stove> <x:shows> 99 } ; INSERT DATA { <x:stove> <x:shows> 64 }")


def test_an_update_asks_for_the_token_once(page: Page, server: Serving) -> None:
    ask(page, "INSERT DATA { <x:page> <x:wrote> 1 }")
    page.get_by_role("button", name="Run").click()
    give_token(page, server)
    expect(page.locator("[data-said]")).to_contain_text("Change")
    ask(page, "DELETE DATA { <x:page> <x:wrote> 1 }")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("[data-said]")).to_contain_text("0 facts came, 5 went")
    assert page.evaluate("Object.keys(localStorage)") == []


def needs(server: Serving, *paths: str) -> None:
    """Skip a test of what the server has no path for."""
    missing = set(paths) - set(server.get("/").json()["paths"])
    if missing:
        pytest.skip(f"the server has no {', '.join(sorted(missing))}")


def give_token(page: Page, server: Serving) -> None:
    """Type the token where it is asked for."""
    page.get_by_label("Token", exact=True).fill(server.token)
    page.get_by_role("button", name="Use it").click()


def picture(page: Page, name: str) -> None:
    """A picture for the documentation, where LIVEFACTS_PICTURES asks for them."""
    if os.environ.get("LIVEFACTS_PICTURES"):
        page.screenshot(path=IMAGES / f"page-{name}.png", animations="disabled")


def test_latest_changes_come_as_they_are_made_and_after_a_restart(
    browser: Browser, tmp_path: Path
) -> None:
    folder = tmp_path / "kb"
    with serving(folder) as first:
        needs(first, "/changes")
        port, token = first.url.rpartition(":")[2], first.token
        context = browser.new_context(base_url=first.url)
        page = context.new_page()
        page.goto("/")
        live = page.locator("[data-live=true]")
        expect(live).to_be_visible()
        first.update("INSERT DATA { <x:a> <x:b> 1 }")
        expect(page.locator(".latest li[data-seq='1']")).to_contain_text("x:a x:b 1")
    expect(page.locator(".trouble")).to_contain_text("does not answer")
    with serving(folder, "--port", port, token=token) as second:
        second.update("INSERT DATA { <x:a> <x:b> 2 }")
        expect(page.locator(".latest li[data-seq='2']")).to_contain_text(
            "x:a x:b 2", timeout=15_000
        )
        expect(page.locator(".trouble")).to_have_count(0)
        second.update("INSERT DATA { <x:a> <x:b> 3 }")
        expect(page.locator(".latest li[data-seq='3']")).to_contain_text("x:a x:b 3")
        expect(page.locator(".latest ol > li")).to_have_count(3)
        context.close()


def test_a_fact_is_explained_as_a_tree_and_as_a_graph(page: Page, server: Serving) -> None:
    needs(server, "/explain")
    page.goto("/#/why")
    page.get_by_label("Fact").fill("<x:boiler> a <x:Thing>")
    page.keyboard.press("Enter")
    expect(page.locator(".verdict")).to_contain_text("holds")
    proof = page.locator(".proof")
    expect(proof).to_contain_text("x:Sensor rdfs:subClassOf x:Thing")
    page.get_by_role("button", name="As a graph").click()
    expect(page.locator(".graph[data-nodes='3'] canvas").first).to_be_visible()
    picture(page, "why")


def test_a_fact_that_does_not_hold_says_what_is_missing(page: Page, server: Serving) -> None:
    needs(server, "/explain")
    page.goto("/#/why?fact=<x:attic> a <x:Room>")
    expect(page.locator(".verdict")).to_contain_text("does not hold")
    expect(page.locator("[data-state=missing]").first).to_be_visible()


def test_a_row_leads_to_its_proof(page: Page, server: Serving) -> None:
    needs(server, "/explain")
    page.goto("/#/ask?query=SELECT ?s ?p ?o { ?s ?p ?o FILTER(?s = <x:cellar>) } LIMIT 1")
    page.locator("tbody").get_by_role("link", name="why").click()
    expect(page.locator(".verdict")).to_contain_text("holds")


def test_a_change_is_previewed_and_then_made(page: Page, server: Serving) -> None:
    needs(server, "/preview", "/patch")
    page.goto("/#/what-if")
    page.get_by_label("Facts to add").fill("<x:fan> a <x:Sensor>")
    page.get_by_role("button", name="Preview").click()
    give_token(page, server)
    expect(page.locator(".delta .came")).to_contain_text(["x:fan a x:Sensor", "x:fan a x:Thing"])
    assert not server.select("SELECT ?c { <x:fan> a ?c }")
    page.get_by_role("button", name="Commit").click()
    expect(page.locator("[data-said]")).to_contain_text("Made: change")
    assert server.select("SELECT ?c { <x:fan> a ?c }")
    server.update("DELETE DATA { <x:fan> a <x:Sensor> }")


def test_a_mistake_in_a_fact_is_selected_where_it_stands(page: Page, server: Serving) -> None:
    needs(server, "/preview")
    page.goto("/#/what-if")
    field = page.get_by_label("Facts to add")
    field.fill("<x:fan> a <x:Sensor>\n<x:fan> <x:shows")
    page.get_by_role("button", name="Preview").click()
    give_token(page, server)
    expect(page.locator(".trouble")).to_be_visible()
    expect(field).to_be_focused()
    assert field.evaluate("field => field.selectionStart") > len("<x:fan> a <x:Sensor>")


def test_rules_are_listed_added_and_removed(page: Page, server: Serving) -> None:
    needs(server, "/rules")
    page.goto("/#/rules")
    field = page.get_by_label("Rules to add")
    field.fill("@id hot [?s, a, <x:Hot>] :- [?s, <x:shows>, ?v], ?w > 60 .")
    page.get_by_role("button", name="Add").click()
    give_token(page, server)
    expect(page.locator(".trouble")).to_contain_text("?w")
    expect(field).to_be_focused()
    field.fill("@id hot [?s, a, <x:Hot>] :- [?s, <x:shows>, ?v], ?v > 60 .")
    page.get_by_role("button", name="Add").click()
    row = page.get_by_role("row", name="hot")
    expect(row).to_be_visible()
    assert len(server.select("SELECT ?s { ?s a <x:Hot> }")) == 2
    expect(page.get_by_role("columnheader", name="instances")).to_be_visible()
    row.get_by_role("button", name="remove").click()
    expect(row).to_have_count(0)


def test_rules_are_drawn_and_those_that_feed_each_other_are_in_one_box(page: Page) -> None:
    page.goto("/#/rules")
    page.get_by_role("button", name="As a graph").click()
    expect(page.locator(".graph[data-nodes] canvas").first).to_be_visible()
    expect(page.locator("main")).to_contain_text("Rules in one box feed each other")
    assert violations(page) == []
    picture(page, "rules")


def test_a_question_to_begin_with_is_asked(page: Page) -> None:
    page.goto("/#/ask")
    page.get_by_role("link", name="which kinds of things there are").click()
    expect(page.locator(".bar").first).to_be_visible()
    expect(page.get_by_role("row", name="x:Sensor")).to_be_visible()


def test_history_has_changes_and_takes_one_back(page: Page, server: Serving) -> None:
    needs(server, "/changes", "/undo")
    page.goto("/#/history")
    expect(page.locator("[data-said]")).to_contain_text("as they are made")
    seq = server.update("INSERT DATA { <x:door> <x:in> <x:hall> }")["seq"]
    row = page.locator(f"tr[data-seq='{seq}']")
    row.locator("summary").click()
    expect(row).to_contain_text("x:hall a x:Room")
    picture(page, "history")
    row.get_by_role("button", name="undo").click()
    row.get_by_role("button", name="Take change").click()
    give_token(page, server)
    expect(page.locator("[data-said]")).to_contain_text("taken back")
    assert not server.select("SELECT ?o { <x:door> <x:in> ?o }")
    row.get_by_role("link", name="ask as it was").click()
    expect(page.locator("h1")).to_contain_text(f"after change {seq}")


def test_reports_of_a_registered_query_are_drawn(page: Page, server: Serving) -> None:
    needs(server, "/register", "/streams/{name}")
    page.goto("/#/streams")
    page.get_by_label("C-SPARQL").fill(
        "REGISTER QUERY Seen COMPUTE EVERY 1s AS SELECT ?s ?v"
        " FROM STREAM <x:readings> [RANGE 5s STEP 1s] WHERE { ?s <x:saw> ?v }"
    )
    page.get_by_role("button", name="Register").click()
    give_token(page, server)
    expect(page.get_by_role("link", name="Seen")).to_be_visible()
    expect(page.get_by_role("region", name="Reports")).to_be_visible()
    for second in (1, 2, 3):
        event = {"at": second, "facts": f"<x:eye> <x:saw> {second} ."}
        server.post("/streams/x:readings", json=event)
    expect(page.locator(".timeline rect").first).to_be_visible()
    expect(page.locator("tbody tr").first).to_contain_text("x:eye")
    picture(page, "streams")
    page.goto("/#/now")
    expect(page.locator("[data-stream='x:readings']")).to_contain_text("up to date")


def test_a_private_server_is_read_with_a_token_asked_for_once(
    browser: Browser, tmp_path: Path
) -> None:
    with serving(tmp_path / "kb", "--private") as server:
        context = browser.new_context(base_url=server.url)
        page = context.new_page()
        page.goto("/")
        expect(page.get_by_role("dialog")).to_contain_text("token of the scope read")
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator(".trouble")).to_be_visible()
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_role("button", name="Give a token").click()
        give_token(page, server)
        expect(page.locator("[data-figure=facts]")).to_have_text("0")
        expect(page.locator("[data-live=true]")).to_be_visible()
        server.update("INSERT DATA { <x:a> <x:b> 1 }")
        expect(page.locator(".latest li[data-seq='1']")).to_contain_text("x:a x:b 1")
        ask(page, "SELECT ?o { ?s <x:b> ?o }")
        page.get_by_role("button", name="Keep watching").click()
        expect(page.locator("tbody tr")).to_have_count(1)
        server.update("INSERT DATA { <x:a> <x:b> 2 }")
        expect(page.locator("tr.came")).to_contain_text("2")
        context.close()


def test_now_shows_the_sources_and_what_stood_for_nothing(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "readings.jsonl"
    path.write_text('{"id": "hall", "v": 95, "t": 1}\n{"t": 2}\n')
    options = ("--source", path.as_uri(), "--map", "[<x:{$.id}>, <x:v>, $.v] at $.t")
    with serving(tmp_path / "kb", *options) as server:
        context = browser.new_context(base_url=server.url)
        page = context.new_page()
        page.goto("/")
        row = page.locator("[data-source]")
        expect(row).to_contain_text("following")
        expect(row.locator("td").nth(1)).to_have_text("2")
        page.get_by_text("stood for nothing").click()
        expect(page.locator("details")).to_contain_text("there is no $.")
        assert violations(page) == []
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_no_violation(page: Page, server: Serving, view: str, scheme: str) -> None:
    path, address, shown = VIEWS[view]
    needs(server, path)
    page.emulate_media(color_scheme=scheme)
    page.goto(f"/#/{address}")
    expect(page.locator(shown).first).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("view", VIEWS)
def test_a_narrow_window_has_one_column_and_nothing_beside_it(
    page: Page, server: Serving, view: str
) -> None:
    path, address, shown = VIEWS[view]
    needs(server, path)
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(f"/#/{address}")
    expect(page.locator(shown).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.parametrize("view", VIEWS)
def test_at_twice_the_size_everything_is_there_and_nothing_beside_it(
    browser: Browser, server: Serving, view: str
) -> None:
    """A zoom of 200 % leaves half of the window, each point of which is four."""
    path, address, shown = VIEWS[view]
    needs(server, path)
    half = {"width": 640, "height": 450}
    context = browser.new_context(base_url=server.url, viewport=half, device_scale_factor=2)
    page = context.new_page()
    page.goto(f"/#/{address}")
    expect(page.locator(shown).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 640
    assert violations(page) == []
    context.close()


def test_the_keyboard_alone_reaches_a_query_and_its_answer(page: Page) -> None:
    page.goto("/#/ask")
    expect(page.locator(".editor[data-ready]")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(".editor textarea")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Run")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Answers")).to_be_visible()


def test_completion_offers_what_the_data_use(page: Page) -> None:
    ask(page, "SELECT * { ?s <x:sh")
    page.keyboard.press("Control+Space")
    expect(page.locator(".editor")).to_contain_text("<x:shows>")


YASGUI = PARTS / "yasgui" / "package"
PLAIN_PAGE = """<!doctype html><meta charset="utf-8"><title>YASGUI</title>
<link rel="stylesheet" href="build/yasgui.min.css"><div id="here"></div><script src="build/yasgui.min.js"></script>
<script>
  const endpoint = new URLSearchParams(location.search).get("endpoint");
  const tool = new Yasgui(document.getElementById("here"), { requestConfig: { endpoint }, persistenceId: null });
</script>"""


@pytest.mark.skipif(not YASGUI.exists(), reason=f"there is no YASGUI: {FETCH}")
def test_a_plain_yasgui_on_a_page_of_another_host_asks(
    browser: Browser, server: Serving, tmp_path: Path
) -> None:
    """As its makers build it, at another origin than the server."""
    shutil.copytree(YASGUI / "build", tmp_path / "build")
    (tmp_path / "index.html").write_text(PLAIN_PAGE)
    files = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), files) as elsewhere:
        threading.Thread(target=elsewhere.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{elsewhere.server_port}/index.html"
        page = browser.new_page()
        page.goto(f"{address}?endpoint={server.url}/sparql")
        page.evaluate("query => { tool.getTab().setQuery(query); }", SHOWN)
        page.locator(".yasqe_queryButton:visible").click()
        expect(page.locator(".yasr tbody tr")).to_have_count(3)
        expect(page.locator(".yasr tbody tr").first).to_contain_text("x:boiler")
        page.close()
        elsewhere.shutdown()


@pytest.mark.skipif(shutil.which("npx") is None, reason="there is no Node")
def test_functions_of_the_page_do_what_their_tests_say() -> None:
    done = subprocess.run(
        ["npx", "vitest", "run"], cwd=ROOT / "web", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_the_first_view_is_small_and_files_are_kept(server: Serving) -> None:
    first = server.get("/", headers={"Accept": "text/html"})
    assert first.headers["cache-control"] == "no-cache"
    names = [part.split('"')[0] for part in first.text.split('="./')[1:]]
    answers = [server.get(f"/{name}", headers={"Accept-Encoding": "gzip"}) for name in names]
    assert all("immutable" in each.headers["cache-control"] for each in answers)
    assert sum(each.num_bytes_downloaded for each in answers) < 150_000


def test_programs_get_the_list_of_paths(server: Serving) -> None:
    assert "/sparql" in server.get("/").json()["paths"]
