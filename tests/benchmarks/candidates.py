"""Assembly of a context from many candidates, as recall and hosts will offer them: counted beforehand, some of them twins."""

from collections.abc import Callable
from random import Random
from statistics import median

from keepsake.domain.context import AssemblyRequest, ContextItem, Tier, assemble
from keepsake.domain.scratch_pad import Artifact
from keepsake.domain.turns import Role, Turn, rendered
from tests.benchmarks.in_process import TOKENS
from tests.benchmarks.measuring import LOOP_NAME, Sample, in_turn, loop, spread, table
from tests.benchmarks.passages import Passages, english
from tests.contexts import PROFILES

CANDIDATES = 200
PROFILE_NAMES = ("default", "claude")
AIM_P99_MS = 5.0
_TIERS = (Tier.LIVE, Tier.EPISODIC, Tier.EPISODIC, Tier.DOMAIN, Tier.DOMAIN, Tier.INSTITUTIONAL, Tier.PAGE)


def request(model_profile: str, seed: int) -> AssemblyRequest:
    """200 items of 10 to 60 words, one in ten nearly a twin of another, beside 20 turns of 100 words and a scratch pad."""
    random, passages = Random(seed), english(seed)
    return AssemblyRequest(
        PROFILES.get(model_profile),
        system_prompt_tokens=350,
        reply_tokens=800,
        message_tokens=150,
        topics="Active conversation topics: diabetes, insulin",
        artifacts=(Artifact("draft", "sql", passages.passage(60), 1, 1, 80),),
        turns=tuple(_turn(number, passages.passage()) for number in range(20)),
        profile_lines=("Interests: type 2 diabetes, drug trials",),
        items=tuple(_items(random, passages)),
    )


def _turn(number: int, text: str) -> Turn:
    role = Role.ASSISTANT if number % 2 else Role.USER
    return Turn(f"t{number}", role, text, number, number, TOKENS.count(rendered(role, None, text)))


def _items(random: Random, passages: Passages) -> list[ContextItem]:
    items: list[ContextItem] = []
    for number in range(CANDIDATES):
        twin = random.choice(items).text + " again" if items and number % 10 == 9 else passages.passage(random.randint(10, 60))
        item = ContextItem(f"m{number}", random.choice(_TIERS), twin, score=random.random(), safety_critical=number % 100 == 50)
        items.append(item.counted(TOKENS.count))
    return items


def report(rounds: int) -> str:
    """Both profiles in turn, over requests of which each is assembled several times."""
    samples: dict[str, Sample] = {}
    seeds = range(20)
    requests = {name: [request(name, seed) for seed in seeds] for name in PROFILE_NAMES}
    for seed in seeds:
        calls = {LOOP_NAME: loop, **{name: _call(requests[name][seed]) for name in PROFILE_NAMES}}
        in_turn(samples, calls, max(1, rounds // len(seeds)))
    included = {name: len(assemble(requests[name][0], TOKENS.count).included) for name in PROFILE_NAMES}
    one_loop = median(samples[LOOP_NAME].cpu)
    rows = [
        [
            name,
            len(sample),
            *spread(sample.cpu),
            f"{median(sample.cpu) / one_loop:.1f}",
            *spread(sample.wall),
            included.get(name, "-"),
        ]
        for name, sample in samples.items()
    ]
    heads = ["model profile", "count", "CPU p50", "CPU p99", "in loops", "wall p50", "wall p99", "included"]
    return table(f"Assembly of {CANDIDATES} candidates (ms; aim: p99 of at most {AIM_P99_MS:.0f})", heads, rows)


def _call(one: AssemblyRequest) -> Callable[[], object]:
    return lambda: assemble(one, TOKENS.count)
