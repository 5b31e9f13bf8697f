"""Prints a SAM template as CloudFormation gets it, in JSON.

    build/venv/bin/python infra/template/transform.py template.yaml OAuthIssuers=https://login.example.com

Code on this machine is taken for code in a bucket: the transform wants it packaged.
"""

import json
import os
import sys

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse


class NoManagedPolicies:
    """Knows none of Amazon's policies by name: the template uses none."""

    def load(self):
        return {}


def main(path, *parameters):
    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
    with open(path) as f:
        template = yaml_parse(f.read())
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        if "CodeUri" in properties:
            properties["CodeUri"] = "s3://bucket/" + properties["CodeUri"]
    values = dict(p.split("=", 1) for p in parameters)
    json.dump(transform(template, values, NoManagedPolicies()), sys.stdout, indent=1)


main(*sys.argv[1:])
