"""pyfhircheck for the types of FHIR that hpeer writes: all 150 would take two seconds of a processor to load. One that is
not among these is an error, as one that FHIR does not know."""
import functools
import importlib

from pyfhircheck import Validator
from pyfhircheck.config import ValidatorConfig
from pyfhircheck.core import definitions

TYPES = ("Bundle", "Device", "DocumentReference", "Observation", "Patient")


@functools.cache
def models():
    return {name: getattr(importlib.import_module(f"fhir.resources.R4B.{name.lower()}"), name) for name in TYPES}


def validator_with(definition):
    """A validator that knows the StructureDefinition in this file."""
    definitions._discover_r4b_models = models
    return Validator(ValidatorConfig(local_package_paths=[definition]))
