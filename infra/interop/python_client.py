"""The Python SDK, in both eras, and without a form in the new one.

It is tried with what scenario.mjs tries the JavaScript clients with.
"""

import json
import logging
import os
import sys
import unittest
from contextlib import asynccontextmanager
from datetime import datetime, timezone
from pathlib import Path

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult, PromptReference, ResourceTemplateReference

expected = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))
key, newsletter = expected["confirm"], expected["newsletter"]
answers = {
    "yes": ElicitResult(action="accept", content={key: True}),
    "no": ElicitResult(action="accept", content={key: False}),
    "decline": ElicitResult(action="decline"),
    "cancel": ElicitResult(action="cancel"),
}


def ids(records):
    return [record["id"] for record in records]


class Scenario:
    """A client in one era; form is whether it can show a form."""

    mode: str
    era: str
    form = True

    @asynccontextmanager
    async def client(self):
        self.asked, self.answer = [], None

        async def elicit(_context, params):
            self.asked.append(params.message)
            return answers[self.answer]

        headers = {"Authorization": f"Bearer {os.environ['MCP_TOKEN']}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(os.environ["MCP_URL"], http_client=http)
            async with Client(transport, mode=self.mode, elicitation_callback=elicit if self.form else None, cache=None) as client:
                yield client

    async def call(self, client, name, **arguments):
        return await client.call_tool(name, arguments)

    async def emails(self, client, **arguments):
        return json.loads((await self.call(client, "emails_list", **arguments)).content[0].text)

    async def all(self, client):
        return (await self.emails(client, limit=200))["data"]

    async def newsletter(self, client):
        (email,) = [e["id"] for e in await self.all(client) if e["subject"] == newsletter["subject"]]
        return email

    async def read(self, client, uri):
        return json.loads((await client.read_resource(uri)).contents[0].text)

    async def refused(self, code, coroutine):
        with self.assertRaises(MCPError) as raised:
            await coroutine
        self.assertEqual(raised.exception.code, code)

    async def test_connects(self):
        async with self.client() as client:
            self.assertEqual(client.protocol_version, expected["server"][self.era])
            if self.mode in ("legacy", "auto"):  # a pinned version asks nobody for a name
                self.assertEqual(client.server_info.name, expected["server"]["name"])

    async def test_lists(self):
        async with self.client() as client:
            tools = (await client.list_tools()).tools
            self.assertEqual([t.name for t in tools], expected["tools"])
            self.assertEqual([t.name for t in tools if t.annotations.destructive_hint], expected["destructive"])
            self.assertEqual([str(r.uri) for r in (await client.list_resources()).resources], expected["resources"])
            templates = (await client.list_resource_templates()).resource_templates
            self.assertEqual([t.uri_template for t in templates], expected["templates"])
            self.assertEqual([p.name for p in (await client.list_prompts()).prompts], expected["prompts"])

    async def test_pages(self):
        async with self.client() as client:
            paged, cursor = [], {}
            while True:
                page = await self.emails(client, limit=expected["page"], **cursor)
                self.assertLessEqual(len(page["data"]), expected["page"])
                paged += page["data"]
                if page["next_cursor"] is None:
                    break
                cursor = {"cursor": page["next_cursor"]}
            self.assertEqual(ids(paged), ids(await self.all(client)))
            # What the server itself adds while it runs may stand between them.
            subjects = [email["subject"] for email in paged]
            self.assertEqual([s for s in subjects if s in expected["emails"]], expected["emails"])

    async def test_reads(self):
        async with self.client() as client:
            email = await self.newsletter(client)
            record = await self.read(client, f"kobana://inbox/emails/{email}")
            self.assertEqual({name: record[name] for name in ("id", "subject", "from")}, {"id": email, **newsletter})
            total = (await self.read(client, "kobana://inbox/usage"))["total"]
            self.assertEqual(total, json.loads((await self.call(client, "usage_get")).content[0].text)["total"])
            self.assertGreaterEqual(total["emails"], len(expected["emails"]))
            await self.refused(expected["codes"]["notFound"][self.era], client.read_resource("kobana://inbox/no-such"))

    async def test_gets(self):
        async with self.client() as client:
            inboxes = json.loads((await self.call(client, "inboxes_list")).content[0].text)["data"]
            (inbox,) = [i["id"] for i in inboxes if i["label"] == expected["overview"]["inbox"]]
            message = (await client.get_prompt("inbox_overview", {"inbox_id": inbox})).messages[0]
            self.assertEqual(message.role, "user")
            for text in [inbox, *expected["overview"]["mentions"]]:
                self.assertIn(text, message.content.text)
            await self.refused(-32602, client.get_prompt("inbox_overview", {}))

    async def test_completes(self):
        async with self.client() as client:
            template = ResourceTemplateReference(uri="kobana://inbox/emails/{id}")
            suggested = await client.complete(template, {"name": "id", "value": ""})
            self.assertEqual(suggested.completion.values, ids(await self.all(client)))
            months = await client.complete(PromptReference(name="usage_report"), {"name": "month", "value": ""})
            self.assertEqual(len(months.completion.values), 12)
            self.assertEqual(months.completion.values[0], datetime.now(timezone.utc).strftime("%Y-%m"))

    async def test_calls(self):
        async with self.client() as client:
            bad = await self.call(client, "emails_list", limit=0)
            self.assertTrue(bad.is_error)
            self.assertRegex(bad.content[0].text, "^invalid_arguments: ")

    async def test_z_asks_before_it_deletes(self):  # last: it leaves one e-mail less
        async with self.client() as client:
            before, email = await self.all(client), await self.newsletter(client)
            uri = f"kobana://inbox/emails/{email}"
            if not self.form:
                await self.refused(expected["codes"]["noForm"], self.call(client, "emails_delete", id=email))
                return
            if self.era == "legacy":
                refused = await self.call(client, "emails_delete", id=email)
                self.assertTrue(refused.is_error)
                self.assertRegex(refused.content[0].text, "^confirmation_required: ")
                self.assertEqual((self.asked, (await self.read(client, uri))["id"]), ([], email))
                return
            for self.answer in ["no", "decline", "cancel"]:
                self.asked.clear()
                declined = await self.call(client, "emails_delete", id=email)
                self.assertTrue(declined.is_error)
                self.assertRegex(declined.content[0].text, "^user_declined: ")
                self.assertEqual(len(self.asked), 1)
                self.assertIn(newsletter["subject"], self.asked[0])
                self.assertEqual((await self.read(client, uri))["id"], email)
            self.answer = "yes"
            self.asked.clear()
            done = await self.call(client, "emails_delete", id=email)
            self.assertFalse(done.is_error, done.content[0])
            self.assertEqual(len(self.asked), 1)
            await self.refused(expected["codes"]["notFound"][self.era], client.read_resource(uri))
            self.assertEqual(ids(await self.all(client)), [other for other in ids(before) if other != email])


class LegacyTest(Scenario, unittest.IsolatedAsyncioTestCase):
    mode, era = "legacy", "legacy"


class ModernWithoutFormTest(Scenario, unittest.IsolatedAsyncioTestCase):
    mode, era, form = "2026-07-28", "modern", False


class NegotiatedTest(Scenario, unittest.IsolatedAsyncioTestCase):
    mode, era = "auto", "modern"


if __name__ == "__main__":
    if not {"MCP_URL", "MCP_TOKEN"} <= os.environ.keys():
        sys.exit("MCP_URL and MCP_TOKEN are not set: run make interop")
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # which tells of every pause
    unittest.main(verbosity=2)
