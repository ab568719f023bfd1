"""Whether a turn asks for the past. Deterministic and explained: the answer is a word that says why.

`cues` are the words of each language, `reading` cuts a turn and finds its names, `features` mean the same in every language,
`gate` weighs them, `reasons` names the answers.
"""

from keepsake.domain.recall_intent.gate import KnownNames, RecallGate, RecallIntent, parse_recall_gate
from keepsake.domain.recall_intent.reasons import Reason

__all__ = ["KnownNames", "Reason", "RecallGate", "RecallIntent", "parse_recall_gate"]
