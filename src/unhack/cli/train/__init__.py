"""`unhack train`."""

from unhack.cli.train.command import train as train
from unhack.cli.train.models import base as base
