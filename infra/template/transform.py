"""Prints template.yaml as CloudFormation gets it from SAM, in JSON.

    transform.py [--code FOLDER] PARAMETER=VALUE…

Code is taken for packaged, in a bucket; with --code, it is what sam build left in
that folder, so that sam local can run the result.
"""

import argparse
import json
import logging
import os
import pathlib

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse


class NoManagedPolicies:
    """Knows none of Amazon's policies by name: the template uses none."""

    def load(self):
        return {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--code", type=pathlib.Path)
    parser.add_argument("parameters", nargs="*")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)  # about features of SAM's own service
    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")

    template = yaml_parse(pathlib.Path("template.yaml").read_text())
    functions = [id for id, r in template["Resources"].items() if r["Type"] == "AWS::Serverless::Function"]
    for id in functions:
        template["Resources"][id]["Properties"]["CodeUri"] = f"s3://bucket/{id}"
    transformed = transform(template, dict(p.split("=", 1) for p in arguments.parameters), NoManagedPolicies())
    if arguments.code:
        for id in functions:
            transformed["Resources"][id]["Properties"]["Code"] = str(arguments.code.resolve() / id)
    print(json.dumps(transformed, indent=1))


main()
