"""Text to measure with: drawn from a list of words by a seeded generator, as unevenly as words are used. Nobody wrote it."""

from collections.abc import Sequence
from itertools import accumulate
from random import Random

from keepsake.domain.recall_intent import KnownNames, RecallGate

_ENGLISH = """
the of and to in a is that it for was on are with as have be this from or by not but what all were when we there can
an your which their if will each about how up out them then she many some so these would other into has more her two
like him see time could no make than first been its who now people my made over did down only way find use may water
long little very after words called just where most know get through back much before go good new write our used me
man too any day same right look think also around another came come work three word must because does part even place
well such here take why things help put years different away again off went old number great tell men say small every
found still between name should home big give air line set own under read last never us left end along while might
next sound below saw something thought both few those always looked show large often together asked house world going
want school important until form food keep children feet land side without boy once animal life enough took four head
above kind began almost live page got earth need far hand high year mother light country father let night picture
being study second soon story since white ever paper hard near sentence better best across during today however sure
knew patients treatment cohort diabetes insulin blood pressure heart failure kidney cancer trial dose risk therapy
hospital diagnosis query table column join filter schema report average median interval sample control group outcome
baseline measure value record
"""
_THAI = """
ผม ฉัน คุณ เรา เขา และ หรือ แต่ เพราะ ถ้า เมื่อ ที่ ซึ่ง อยู่ เป็น มี ไม่ ได้ ให้ ไป มา จะ แล้ว กับ ของ ใน จาก ถึง
ด้วย มาก น้อย วันนี้ พรุ่งนี้ เมื่อวาน เช้า เย็น บ้าน โรงเรียน โรงพยาบาล หมอ พยาบาล ผู้ป่วย ยา อาหาร น้ำ ข้าว ผลไม้
ครอบครัว แม่ พ่อ ลูก เพื่อน ทำงาน เรียน อ่าน เขียน พูด ฟัง คิด รู้ เข้าใจ จำ ลืม ชอบ รัก กลัว เดิน วิ่ง นอน ตื่น กิน
ดื่ม ซื้อ ขาย เดินทาง รถไฟ ตลาด ทะเล ภูเขา เบาหวาน ความดัน หัวใจ มะเร็ง การรักษา ผลตรวจ ข้อมูล ตาราง คำถาม คำตอบ
เรื่อง ปัญหา สำคัญ ใหม่ เก่า ใหญ่ เล็ก ดี ยาก ง่าย สวย เร็ว ช้า
"""

# Of these are made the names, numbers and rare words that make one text unlike another.
_SYLLABLES = """
ba cor den eli fal gra hum iso jen kel lam mor nis olu pra quin rez sal tor uma ven wil xan yor zed 17 42 9 303 86
"""
_RARE = 0.08


class Passages:
    """Passages of one language. The same seed gives the same passages; a word is the rarer the later it stands in its list."""

    def __init__(self, words: Sequence[str], *, between: str = " ", rare: float = 0.0, seed: int = 1) -> None:
        self._words = words
        self._between = between
        self._rare = rare
        self._weights = tuple(accumulate(1 / (rank + 80) for rank in range(len(words))))
        self._random = Random(seed)

    def passage(self, words: int = 100) -> str:
        """So many words."""
        drawn = self._random.choices(self._words, cum_weights=self._weights, k=words)
        return self._between.join([self._rare_word() if self._random.random() < self._rare else word for word in drawn])

    def _rare_word(self) -> str:
        return "".join(self._random.choices(_SYLLABLES.split(), k=3))


class Unasking:
    """Passages that ask nothing of the past, as most turns do not: drawn until recall's gate lets none through."""

    def __init__(self, passages: Passages, gate: RecallGate) -> None:
        self._passages = passages
        self._gate = gate

    def passage(self, words: int = 100) -> str:
        """So many words."""
        while self._gate.intent(text := self._passages.passage(words), (), KnownNames()).wanted:
            pass
        return text


def english(seed: int = 1) -> Passages:
    """Words with spaces between them."""
    return Passages(_ENGLISH.split(), rare=_RARE, seed=seed)


def thai(seed: int = 1) -> Passages:
    """Words that follow each other without a space, three bytes to a letter."""
    return Passages(_THAI.split(), between="", seed=seed)
