// What every JavaScript client is tried with: it lists, pages, reads, gets,
// completes and calls, and the results are those of expected.json. A client
// that cannot do a part of it leaves the method out of what open returns:
// only the Inspector's command line does, which has no completion.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

export const expected = JSON.parse(readFileSync(new URL('expected.json', import.meta.url)));
export const url = need('MCP_URL');
export const token = need('MCP_TOKEN');

function need(name) {
  if (!process.env[name]) throw new Error(`${name} is not set: run make interop`);
  return process.env[name];
}

// What the person at the client answers to a form.
export const answers = {
  yes: { action: 'accept', content: { [expected.confirm]: true } },
  no: { action: 'accept', content: { [expected.confirm]: false } },
  decline: { action: 'decline' },
  cancel: { action: 'cancel' },
};

const names = (items) => items.map((item) => item.name);
const ids = (records) => records.map((record) => record.id);
const json = (result) => JSON.parse(result.content[0].text);
const emails = (client, args) => client.callTool({ name: 'emails_list', arguments: args }).then(json);
const all = async (client) => (await emails(client, { limit: 200 })).data;
const newsletter = async (client) => (await all(client)).find((email) => email.subject === expected.newsletter.subject);
const read = async (client, uri) => JSON.parse((await client.readResource({ uri })).contents[0].text);
// code expects an error of that code, where the client shows codes at all.
const code = (client, value) => (error) => {
  if (!client.hidesCodes) assert.equal(error.code, value);
  return true;
};

// scenario tries the client that open returns. person.answer is the answer
// that its form gives, person.asked is where it puts the questions it showed.
export function scenario(title, era, open) {
  test(title, async (t) => {
    const person = { answer: undefined, asked: [] };
    const client = await open(person);
    const notFound = client.notFound ?? expected.codes.notFound[era];
    t.after(() => client.close?.());
    const step = (name, run) => t.test(name, run);

    await step('connects', () => {
      assert.equal(client.version, expected.server[era]);
      assert.equal(client.server, expected.server.name);
    });
    await step('lists', async () => {
      const { tools } = await client.listTools();
      assert.deepEqual(names(tools), expected.tools);
      assert.deepEqual(names(tools.filter((tool) => tool.annotations.destructiveHint)), expected.destructive);
      assert.deepEqual((await client.listResources()).resources.map((r) => r.uri), expected.resources);
      assert.deepEqual((await client.listResourceTemplates()).resourceTemplates.map((r) => r.uriTemplate), expected.templates);
      assert.deepEqual(names((await client.listPrompts()).prompts), expected.prompts);
    });
    await step('pages', async () => {
      const paged = [];
      let cursor;
      do {
        const page = await emails(client, { limit: expected.page, ...(cursor && { cursor }) });
        assert.ok(page.data.length <= expected.page);
        paged.push(...page.data);
        cursor = page.next_cursor;
      } while (cursor);
      assert.deepEqual(ids(paged), ids(await all(client)));
      // What the server itself adds while it runs may stand between them.
      assert.deepEqual(paged.map((email) => email.subject).filter((s) => expected.emails.includes(s)), expected.emails);
    });
    await step('reads', async () => {
      const { id } = await newsletter(client);
      const email = await read(client, `kobana://inbox/emails/${id}`);
      assert.deepEqual({ id: email.id, subject: email.subject, from: email.from }, { id, ...expected.newsletter });
      const { total } = await read(client, 'kobana://inbox/usage');
      assert.deepEqual(total, json(await client.callTool({ name: 'usage_get', arguments: {} })).total);
      assert.ok(total.emails >= expected.emails.length, `${total.emails} e-mails in 30 days`);
      await assert.rejects(client.readResource({ uri: 'kobana://inbox/no-such' }), code(client, notFound));
    });
    await step('gets', async () => {
      const inboxes = json(await client.callTool({ name: 'inboxes_list', arguments: {} })).data;
      const { id } = inboxes.find((inbox) => inbox.label === expected.overview.inbox);
      const { messages } = await client.getPrompt({ name: 'inbox_overview', arguments: { inbox_id: id } });
      assert.equal(messages[0].role, 'user');
      for (const text of [id, ...expected.overview.mentions]) assert.ok(messages[0].content.text.includes(text), text);
      await assert.rejects(client.getPrompt({ name: 'inbox_overview', arguments: {} }), code(client, -32602));
    });
    if (client.complete) {
      await step('completes', async () => {
        const suggested = await client.complete({ ref: { type: 'ref/resource', uri: 'kobana://inbox/emails/{id}' }, argument: { name: 'id', value: '' } });
        assert.deepEqual(suggested.completion.values, ids(await all(client)));
        const months = await client.complete({ ref: { type: 'ref/prompt', name: 'usage_report' }, argument: { name: 'month', value: '' } });
        assert.equal(months.completion.values.length, 12);
        assert.equal(months.completion.values[0], new Date().toISOString().slice(0, 7));
      });
    }
    await step('calls', async () => {
      const bad = await client.callTool({ name: 'emails_list', arguments: { limit: 0 } });
      assert.equal(bad.isError, true);
      assert.match(bad.content[0].text, /^invalid_arguments: /);
    });
    await step('asks before it deletes', () => deletes(client, era, person, notFound));
  });
}

async function deletes(client, era, person, notFound) {
  const before = await all(client);
  const { id } = await newsletter(client);
  const uri = `kobana://inbox/emails/${id}`;
  const destroy = async (answer) => {
    person.answer = answer;
    person.asked = [];
    return client.callTool({ name: 'emails_delete', arguments: { id } });
  };
  if (era === 'legacy') {
    const refused = await destroy('yes');
    assert.equal(refused.isError, true);
    assert.match(refused.content[0].text, /^confirmation_required: /);
    assert.deepEqual(person.asked, []);
    assert.equal((await read(client, uri)).id, id);
    return;
  }
  if (!client.asks) {
    await assert.rejects(destroy('yes'), code(client, expected.codes.noForm));
    assert.equal((await read(client, uri)).id, id);
    return;
  }
  for (const answer of ['no', 'decline', 'cancel']) {
    const declined = await destroy(answer);
    assert.equal(declined.isError, true, answer);
    assert.match(declined.content[0].text, /^user_declined: /, answer);
    assert.equal(person.asked.length, 1, answer);
    assert.ok(person.asked[0].includes(expected.newsletter.subject), person.asked[0]);
    assert.equal((await read(client, uri)).id, id);
  }
  const done = await destroy('yes');
  assert.ok(!done.isError, done.content[0].text);
  assert.equal(person.asked.length, 1);
  await assert.rejects(client.readResource({ uri }), code(client, notFound));
  assert.deepEqual(ids(await all(client)), ids(before).filter((other) => other !== id));
}
