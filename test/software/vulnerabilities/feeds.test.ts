// The import of feeds, from a directory and from a mirror.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { vulnerabilities } from "../../../src/server/edge/jobs/vulnerabilities.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { newDir, startFake } from "../../support/ca-fakes.ts";
import { bothEngines } from "../../support/engines.ts";
import { epssFiles, kevFiles, nvdCve, nvdFeed, nvdFiles, osvFiles, writeFeeds } from "../../support/feeds.ts";

const openssl = nvdCve("CVE-2024-0001", [{ cpe: "a:openssl:openssl", before: "3.0.8" }]);
const advisory = {
  id: "UBUNTU-CVE-2024-0002",
  upstream: ["CVE-2024-0002"],
  affected: [
    {
      package: { ecosystem: "Ubuntu:22.04:LTS", name: "curl" },
      ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "7.81.0-1ubuntu1.16" }] }],
    },
  ],
};
const files = (): Record<string, Buffer> => ({
  ...nvdFiles("2024", [openssl]),
  ...kevFiles(["CVE-2024-0001"]),
  ...epssFiles({ "CVE-2024-0001": 0.5 }),
  ...osvFiles("Ubuntu", [advisory]),
});

const feed = async (t: TestApp, name: string) =>
  (await t.services.store.vulnerabilityFeeds.list()).find((row) => row.name === name)!;
const blobs = async (t: TestApp): Promise<string[]> => {
  const keys: string[] = [];
  for await (const key of t.services.blobs.list("vulnerability-data/")) keys.push(key);
  return keys;
};
const sync = (t: TestApp) => runJob(t.services, "vulnerabilities");

async function fromFolder(engine: (typeof bothEngines)[number]) {
  const folder = newDir();
  writeFeeds(folder, files());
  const t = await startApp({ engine, settings: { vulnerability_data_url: pathToFileURL(folder).href } });
  return { t, folder };
}

describe.each(bothEngines)("feeds in a directory on %s", (engine) => {
  it("are imported, and again only if they have changed", async () => {
    const { t, folder } = await fromFolder(engine);
    await sync(t);
    expect(await feed(t, "nvd-2024")).toMatchObject({ state: "current", records: 2, error: "" });
    expect(await feed(t, "osv-ubuntu")).toMatchObject({ state: "current", records: 1 });
    expect(await feed(t, "nvd-2023")).toMatchObject({ state: "missing", blob: "" });
    const before = await blobs(t);
    expect(before).toHaveLength(4);

    await sync(t);
    expect(await blobs(t)).toEqual(before);

    writeFeeds(folder, nvdFiles("2024", [openssl, nvdCve("CVE-2024-0003", [{ cpe: "a:gnu:bash", before: "5" }])]));
    await sync(t);
    expect(await feed(t, "nvd-2024")).toMatchObject({ state: "current", records: 4 });
    expect(await blobs(t)).toHaveLength(4);
  });

  it("keep the data of the last good import if a file becomes unusable", async () => {
    const { t, folder } = await fromFolder(engine);
    await sync(t);
    const before = await feed(t, "nvd-2024");
    const file = join(folder, "nvd/nvdcve-2.0-2024.json.gz");
    const meta = join(folder, "nvd/nvdcve-2.0-2024.meta");

    writeFileSync(file, gzipSync(nvdFeed([nvdCve("CVE-2024-0009", [])])));
    writeFileSync(meta, `sha256:${"0".repeat(64)}\r\n`);
    await expect(sync(t)).rejects.toThrow("nvd-2024: the file's SHA-256 digest is not the one of its .meta file");
    rmSync(meta);
    writeFileSync(file, gzipSync(nvdFeed([openssl])).subarray(0, 100));
    await expect(sync(t)).rejects.toThrow("is no gzip file, or is damaged or incomplete");
    writeFileSync(file, gzipSync("[1, 2]"));
    await expect(sync(t)).rejects.toThrow("the JSON is no object");
    writeFileSync(file, gzipSync('{"vulnerabilities": []}'));
    await expect(sync(t)).rejects.toThrow("no entries that can be used");
    expect(await feed(t, "nvd-2024")).toMatchObject({ state: "failed", blob: before.blob, records: before.records });
    expect(await blobs(t)).toContain(before.blob);

    writeFeeds(folder, nvdFiles("2024", [openssl]));
    await sync(t);
    expect(await feed(t, "nvd-2024")).toMatchObject({ state: "current", error: "" });
  });

  it("leave out few entries that cannot be read, and say so; with more of them a file is refused", async () => {
    const { t, folder } = await fromFolder(engine);
    await sync(t);
    const good = Array.from({ length: 199 }, (_, n) =>
      nvdCve(`CVE-2024-${1000 + n}`, [{ cpe: "a:gnu:bash", before: "5" }]),
    );
    writeFeeds(folder, nvdFiles("2024", [...good, nvdCve("CVE-2024-1; drop", [])]));
    await sync(t);
    const note = '1 of 200 entries cannot be read (the first: "CVE-2024-1; drop") and were left out';
    expect(await feed(t, "nvd-2024")).toMatchObject({ state: "current", records: 398, error: note });
    await sync(t);
    expect(await feed(t, "nvd-2024"), "not imported again").toMatchObject({ state: "current", error: note });

    const [first, third] = good;
    const broken = { cve: { ...third!.cve, configurations: "x" } };
    writeFeeds(folder, nvdFiles("2024", [first!, nvdCve("5", []), broken]));
    await expect(sync(t)).rejects.toThrow('nvd-2024: 2 of 3 entries cannot be read (the first: "5")');
    expect(await feed(t, "nvd-2024")).toMatchObject({ state: "failed", records: 398 });

    const advisories = Array.from({ length: 120 }, (_, n) => ({ ...advisory, id: `UBUNTU-${n}` }));
    writeFeeds(folder, {
      ...nvdFiles("2024", [openssl]),
      ...osvFiles("Ubuntu", advisories, { "broken.json": "{not json" }),
    });
    await sync(t);
    expect(await feed(t, "osv-ubuntu")).toMatchObject({ state: "current", records: 120 });
    expect((await feed(t, "osv-ubuntu")).error).toMatch(/^1 of 121 entries cannot be read/);
  });

  it("refuse what is no file, and a .meta file that is none", async () => {
    const { t, folder } = await fromFolder(engine);
    mkdirSync(join(folder, "nvd/nvdcve-2.0-2023.json.gz"));
    await expect(sync(t)).rejects.toThrow(/nvd-2023: .*nvdcve-2.0-2023.json.gz is no file/);
    writeFileSync(join(folder, "nvd/nvdcve-2.0-2024.meta"), "x".repeat(5000));
    await expect(sync(t)).rejects.toThrow(/nvd-2024: .*meta is larger than 4096 bytes/);
  });

  it("refuse a damaged archive", async () => {
    const { t, folder } = await fromFolder(engine);
    const file = join(folder, "osv/Ubuntu/all.zip");
    const archive = osvFiles("Ubuntu", [advisory])["osv/Ubuntu/all.zip"]!;
    writeFileSync(file, archive.subarray(0, -10));
    await expect(sync(t)).rejects.toThrow("osv-ubuntu: the archive cannot be read");
    archive.fill(0xff, 60, 70);
    writeFileSync(file, archive);
    await expect(sync(t)).rejects.toThrow(/osv-ubuntu: (the archive is damaged|.* is not valid JSON)/);
  });

  it("are read from the start after an interruption, which is no failure", async () => {
    const { t } = await fromFolder(engine);
    const stop = new AbortController();
    const put = vi.spyOn(t.services.blobs, "put").mockImplementationOnce(async (_key, content) => {
      for await (const _part of content) stop.abort(new Error("the server stops"));
      throw new Error("the file was read to its end");
    });
    await vulnerabilities.run(t.services, stop.signal);
    expect(put).toHaveBeenCalledTimes(1);
    expect(await feed(t, "kev")).toMatchObject({ state: "importing", blob: "", error: "" });
    expect(await blobs(t)).toEqual([]);
    await sync(t);
    expect(await feed(t, "kev")).toMatchObject({ state: "current", records: 1 });
  });

  it("leave nothing of an import that was interrupted", async () => {
    const { t } = await fromFolder(engine);
    await t.services.blobs.put("vulnerability-data/nvd-2024.0000", oneByte(), { maxBytes: 10 });
    await sync(t);
    expect(await blobs(t)).not.toContain("vulnerability-data/nvd-2024.0000");
  });
});

async function* oneByte() {
  yield Buffer.from("x");
}

describe("feeds of a mirror", () => {
  it("are not imported unchecked while the digest cannot be read", async () => {
    const served = files();
    let status = 503;
    const mirror = await startFake(({ url }) => {
      if (url.pathname.endsWith(".meta")) return { status };
      const body = served[decodeURIComponent(url.pathname.slice("/base/".length))];
      return body ? { body } : { status: 404 };
    });
    const t = await startApp({ settings: { vulnerability_data_url: `${mirror.url}/base/` } });
    await expect(sync(t)).rejects.toThrow("nvd-2024: the server answered with status 503 for its .meta file");
    expect(await feed(t, "nvd-2024")).toMatchObject({ state: "failed", blob: "" });
    status = 404;
    await sync(t);
    expect(await feed(t, "nvd-2024")).toMatchObject({ state: "current", records: 2 });
  });

  it("are asked for conditionally, and by their digest", async () => {
    const served = files();
    const mirror = await startFake(({ url, headers }) => {
      const body = served[decodeURIComponent(url.pathname.slice("/base/".length))];
      if (!body) return { status: 404 };
      const etag = `"${body.length}"`;
      return headers["if-none-match"] === etag ? { status: 304 } : { body, headers: { etag } };
    });
    const t = await startApp({ settings: { vulnerability_data_url: `${mirror.url}/base/` } });
    await sync(t);
    expect(await feed(t, "nvd-2024")).toMatchObject({ state: "current", records: 2 });
    expect(await feed(t, "osv-ubuntu")).toMatchObject({ state: "current", records: 1 });
    const before = await blobs(t);

    mirror.requests.length = 0;
    await sync(t);
    expect(await blobs(t)).toEqual(before);
    const asked = mirror.requests.map(({ url }) => url.pathname);
    // The digest in the small file is the known one.
    expect(asked).not.toContain("/base/nvd/nvdcve-2.0-2024.json.gz");
    const archive = mirror.requests.find(({ url }) => url.pathname === "/base/osv/Ubuntu/all.zip");
    expect(archive?.headers["if-none-match"]).toBeDefined();
  });

  it("name the problem of a server that does not answer as it should", async () => {
    const mirror = await startFake(() => ({ status: 503 }));
    const t = await startApp({ settings: { vulnerability_data_url: mirror.url } });
    await expect(sync(t)).rejects.toThrow("kev: the server answered with status 503");
  });
});
