"""Texts are to be padded by a tokenizer that has no padding token."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._frameworks import written_call
from torchmedic.rules.errors._reading import also, crash_in, said, user_line


class TokenizerWithoutPadToken(Rule):
    """GPT-2, LLaMA and other decoders come without one."""

    code = "ERR089"
    name = "tokenizer-without-pad-token"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the tokenizer was asked to pad and has no padding token"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or not said(crash, r"asking to pad but the tokenizer does not have a padding token"):
            return
        made = written_call(run, crash, "from_pretrained", "PreTrainedTokenizerFast", "AutoTokenizer")
        padded = user_line(crash)
        tokenizer = made is not None and "okenizer" in made.place.source
        where = made.place if made is not None and tokenizer else padded
        name = _assigned(made.place.source) if made is not None and tokenizer else "tokenizer"
        yield self.diagnose(
            headline=f"`{name}` has no padding token, and texts are to be padded with it",
            confidence="proven",
            where=where,
            label="made without a `pad_token`" if where is not padded else "padding is asked for here",
            also=also((padded, "padded here"), but=where),
            culprit=Culprit(tensor=f"{name}.pad_token", phase="data"),
            remedies=(
                Remedy(title=f"set one behind this line: `{name}.pad_token = {name}.eos_token`")
                if where is not padded
                else Remedy(title=f"set one before it is asked to pad: `{name}.pad_token = {name}.eos_token`"),
                Remedy(
                    title=f"or a new one: `{name}.add_special_tokens({{'pad_token': '[PAD]'}})`, "
                    "then `model.resize_token_embeddings(len(tokenizer))`"
                ),
                Remedy(title="set padding positions of `labels` to -100, so that the loss leaves them out"),
            ),
        )


def _assigned(source: str) -> str:
    left, equals, _ = source.partition("=")
    return left.strip() if equals and left.strip().isidentifier() else "tokenizer"
