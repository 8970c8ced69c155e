// Files that values of configuration refer to. So that the tests need no real packages, they give some to queries: a
// description `file DIGEST` refers to a file.
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { OFFSET_TYPE } from "../../../src/api/platform/uploads.ts";
import { query as queries } from "../../../src/server/edge/configuration/kinds/query/kind.ts";
import { days } from "../../../src/server/platform/core/clock.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { applied, change, query, refused } from "../../support/configuration.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeUser } from "../../support/make.ts";

const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");
const withFile = (text: string) => query({ description: `file ${digestOf(text)}` });
const missing = (index: number, text: string, name = text) => ({
  name: `changes.${index}.value`,
  reason: `query "${name}": the file "content" with the SHA-256 digest ${digestOf(text)} was not uploaded`,
});

async function uploaded(t: TestApp, token: string, text: string): Promise<void> {
  const body = { name: `${text}.pkg`, size: text.length, sha256: digestOf(text) };
  const { upload } = (await (await t.as(token).post("/uploads", body)).json()) as { upload: { id: number } };
  const headers = { "content-type": OFFSET_TYPE, "upload-offset": "0" };
  expect((await t.as(token).request("PATCH", `/uploads/${upload.id}`, text, headers)).status).toBe(204);
}

const { write } = queries;
/** The files that the kind has got to write. */
let got: (readonly [string, number])[];
beforeEach(() => {
  got = [];
  queries.files = (value) => {
    const [, sha256] = /^file (\w+)$/.exec((value as { description: string }).description) ?? [];
    return sha256 === undefined ? [] : [{ name: "content", sha256 }];
  };
  queries.write = (work, part) => {
    got = [...work.files];
    return write(work, part);
  };
});
afterEach(() => {
  delete queries.files;
  queries.write = write;
});

describe.each(bothEngines)("files of an apply on %s", (engine) => {
  it("are those that the caller has uploaded, and all that are missing are named", async () => {
    const t = await startApp({ engine });
    await uploaded(t, t.token, "one");
    const changes = ["one", "two", "three"].map((text) => change("create", "query", text, withFile(text)));
    expect(await refused(t, 422, { changes })).toEqual([missing(1, "two"), missing(2, "three")]);
    expect(await t.store.queries.count()).toBe(0);

    await uploaded(t, t.token, "two");
    await uploaded(t, t.token, "three");
    expect(await applied(t, { changes })).toMatchObject({ create: 3 });
    const rows = await t.store.files.list();
    expect(new Map(got)).toEqual(new Map(rows.map(({ sha256, id }) => [sha256, id])));
    expect(rows.map(({ sha256 }) => sha256).sort()).toEqual(["one", "two", "three"].map(digestOf).sort());
  });

  it("may be those that objects have already which the caller may write, and never those of others", async () => {
    const t = await startApp({ engine });
    const other = t.as((await makeUser(t, "admin")).token);
    await uploaded(t, t.token, "one");
    const create = (name: string) => ({ changes: [change("create", "query", name, withFile("one"))] });
    expect(await refused(other, 422, create("a"))).toEqual([missing(0, "one", "a")]);
    await applied(t, create("a"));
    expect(await applied(other, create("b"))).toMatchObject({ create: 1 });

    // The upload has expired; the objects keep the file.
    t.clock.advance(days(2));
    const update = query({ ...withFile("one"), interval: 60 });
    expect(await applied(other, { changes: [change("update", "query", "b", update)] })).toMatchObject({ update: 1 });
    const gone = ["a", "b"].map((name) => change("delete", "query", name));
    await applied(t, { changes: gone });
    expect(await refused(t, 422, create("c"))).toEqual([missing(0, "one", "c")]);
  });

  it("are not looked for in a request that refers to none", async () => {
    const t = await startApp({ engine });
    await applied(t, { changes: [change("create", "query", "plain", query())] });
    expect(got).toEqual([]);
  });
});
