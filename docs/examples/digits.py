"""Teach a linear model to read handwritten digits, one epoch per visit.

    verdog run digits.py
    verdog run digits.py -- --input.epochs 10 --input.pause 0

Needs scikit-learn, which brings the 1,797 pictures along. Every visit of `train` leaves the model as a file,
and the next one goes on from there; the state holds the numbers that describe it. So each epoch is a
checkpoint: kill the run, resume it, or fork it from the middle with another learning rate. The page
`docs/howto/train.md` does all three.
"""

import csv
import pickle
import time
from dataclasses import dataclass
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split

from verdog_runtime.authoring import Context, FeatureState, Success, Workflow

LEARNING_RATE = 1.0


@dataclass(frozen=True)
class Training:
    """How long to train. `pause` is in seconds, for each epoch: a larger model would take them anyway."""

    epochs: int = 20
    pause: float = 0.5


@dataclass(frozen=True)
class Epoch:
    """The state of the node `train`: plain numbers, which `verdog show` and `verdog diff` can read."""

    number: int = 0
    learning_rate: float = 0.0
    accuracy: float = 0.0


@dataclass(frozen=True)
class Model:
    """What travels from visit to visit: where the model is, and how it came there."""

    training: Training
    file: Path
    curve: tuple[Epoch, ...]


@dataclass(frozen=True)
class Report:
    """The result of the whole run."""

    epochs: int
    accuracy: float
    best_accuracy: float
    best_epoch: int


flow = Workflow("digits", input=Training, output=Report)
left = flow.integer("left")
start = flow.feature_node("start", carries=Training)
train = flow.python_node("train", output=Model, state=Epoch)
tick = flow.feature_node("tick", carries=Model)
report = flow.python_node("report", output=Report)


@start.on(flow.enter)
def count_epochs(value: Training, state: FeatureState, context: Context) -> FeatureState:
    """Set the feature that steers the loop: how many epochs are left after the first."""
    return state.replace(left, max(0, value.epochs - 1))


@train.on(start, effects=[left.unconstrained])
def train_new_model(value: Training, state: Epoch, context: Context) -> Success[Model, Epoch]:
    """Train for the first epoch."""
    return train_epoch(value, SGDClassifier(loss="log_loss", alpha=1e-5), (), context)


@train.on(tick, effects=[left.decreases])
def train_further(value: Model, state: Epoch, context: Context) -> Success[Model, Epoch]:
    """Train for one more epoch, from the file that the last visit left."""
    return train_epoch(value.training, pickle.loads(value.file.read_bytes()), value.curve, context)


@tick.on(train, when=[left.positive])
def count_down(value: Model, state: FeatureState, context: Context) -> FeatureState:
    """Go round once more, with one epoch less ahead."""
    return state.replace(left, state.get(left) - 1)


@report.on(train, when=[left.zero])
def write_report(value: Model, state: None, context: Context) -> Success[Report, None]:
    """Write the accuracy of every epoch as a table."""
    with (context.output_dir / "accuracy.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["epoch", "learning_rate", "accuracy"])
        rows.writerows([each.number, each.learning_rate, f"{each.accuracy:.4f}"] for each in value.curve)
    best = max(value.curve, key=lambda each: each.accuracy)
    last = value.curve[-1]
    return Success(output=Report(last.number, last.accuracy, best.accuracy, best.number), state=None)


flow.exit.on(report)


def train_epoch(
    training: Training, model: SGDClassifier, curve: tuple[Epoch, ...], context: Context
) -> Success[Model, Epoch]:
    """Show the model every training picture once, and leave it as a file."""
    number = len(curve) + 1
    pictures, digits = load_digits(return_X_y=True)
    seen, unseen, answers, expected = train_test_split(pictures / 16, digits, test_size=0.25, random_state=0)
    model.set_params(learning_rate="constant", eta0=LEARNING_RATE, random_state=number)
    model.partial_fit(seen, answers, classes=range(10))
    time.sleep(training.pause)
    file = context.output_dir / "model.pickle"
    file.write_bytes(pickle.dumps(model))
    epoch = Epoch(number, LEARNING_RATE, round(float(model.score(unseen, expected)), 4))
    return Success(output=Model(training, file, (*curve, epoch)), state=epoch)
