// Messages of OMA DM: read, written, and refused.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { digestOf } from "../../src/syncml/digest.ts";
import { readCommands, readSyncml } from "../../src/syncml/read.ts";
import { BadSyncml, containerVerbs, requestVerbs, syncCommand, syncItem } from "../../src/syncml/value.ts";
import { writeCommands, writeSyncml } from "../../src/syncml/write.ts";
import { NOT_XML } from "../../src/xml/write.ts";
import { amount } from "../support/engines.ts";

const message = (body: string, head = "", cred = "") =>
  Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>${head}<SyncML xmlns="SYNCML:SYNCML1.2"><SyncHdr>
    <VerDTD>1.2</VerDTD><VerProto>DM/1.2</VerProto><SessionID>1A</SessionID><MsgID>1</MsgID>
    <Target><LocURI>https://mdm.example.com/manage</LocURI></Target>
    <Source><LocURI>DEV1</LocURI><LocName>user@example.com</LocName></Source>${cred}
    <Meta><MaxMsgSize xmlns="syncml:metinf">524288</MaxMsgSize></Meta>
    </SyncHdr><SyncBody>${body}</SyncBody></SyncML>`);

const reason = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof BadSyncml) return error.message;
    throw error;
  }
  return "read";
};

describe("the first message of a session", () => {
  it("is read as a device sends it", () => {
    const cred = `<Cred><Meta><Format xmlns="syncml:metinf">b64</Format><Type xmlns="syncml:metinf">syncml:auth-md5</Type></Meta>
      <Data>NBIDRZkqPnjTzUzTFwoBrQ==</Data></Cred>`;
    const read = readSyncml(
      message(
        `<Alert><CmdID>2</CmdID><Data>1201</Data></Alert>
        <Alert><CmdID>3</CmdID><Data>1224</Data><Item><Meta><Type xmlns="syncml:metinf">com.microsoft/MDM/LoginStatus</Type></Meta><Data>user</Data></Item></Alert>
        <Replace><CmdID>4</CmdID><Item><Source><LocURI>./DevInfo/DevId</LocURI></Source><Data>DEV1</Data></Item>
        <Item><Source><LocURI>./DevInfo/Man</LocURI></Source><Data>Example &amp; Sons</Data></Item></Replace><Final />`,
        "",
        cred,
      ),
    );
    expect(read).toEqual({
      header: {
        sessionId: "1A",
        msgId: "1",
        target: "https://mdm.example.com/manage",
        source: "DEV1",
        credentials: { format: "b64", type: "syncml:auth-md5", data: "NBIDRZkqPnjTzUzTFwoBrQ==" },
        maxMsgSize: 524288,
      },
      commands: [
        syncCommand("Alert", "2", { data: "1201" }),
        syncCommand("Alert", "3", { data: "1224", items: [{ type: "com.microsoft/MDM/LoginStatus", data: "user" }] }),
        syncCommand("Replace", "4", {
          items: [
            { source: "./DevInfo/DevId", data: "DEV1" },
            { source: "./DevInfo/Man", data: "Example & Sons" },
          ],
        }),
      ],
      isFinal: true,
    });
  });

  it("is not final if more of the package follows", () => {
    expect(readSyncml(message("")).isFinal).toBe(false);
  });
});

it.each([
  ["another root", Buffer.from("<a/>"), /does not begin with the element SyncML/],
  ["another version", Buffer.from('<SyncML xmlns="SYNCML:SYNCML1.1"/>'), /does not begin with the element SyncML/],
  ["no header", Buffer.from('<SyncML xmlns="SYNCML:SYNCML1.2"/>'), /no SyncHdr/],
  ["a DOCTYPE", message("", '<!DOCTYPE SyncML [<!ENTITY x "y">]>'), /DOCTYPE/],
  ["depth", message("<Atomic><CmdID>1</CmdID>".repeat(5) + "</Atomic>".repeat(5)), /inside of each other/],
  ["a command without CmdID", message("<Get/>"), /a Get without CmdID/],
  ["bytes that are not text", Buffer.from([0x3c, 0xff]), /UTF-8/],
  ["an endless id", message(`<Get><CmdID>${"1".repeat(300)}</CmdID></Get>`), /CmdID that is too long/],
])("refuses %s", (_, bytes, expected) => {
  expect(reason(() => readSyncml(bytes))).toMatch(expected);
});

describe("commands that users write", () => {
  it("need no ids, and keep markup in data as its text", () => {
    const [command] = readCommands(
      `<Replace><Item><Target><LocURI>./Device/Vendor/MSFT/Policy/Config/A/B</LocURI></Target>
      <Meta><Format xmlns="syncml:metinf">chr</Format></Meta><Data><enabled/><data id="x" value="1"/></Data></Item></Replace>`,
    );
    expect(command).toMatchObject({ verb: "Replace", cmdId: "" });
    expect(command!.items[0]).toMatchObject({ format: "chr", data: '<enabled/><data id="x" value="1"/>' });
    expect(readCommands(writeCommands([{ ...command!, cmdId: "7" }]))[0]!.items).toEqual(command!.items);
  });

  it.each([
    ["text", "hello", /text outside/],
    ["other elements", "<Install/>", /Install, which is not a command/],
    ["a way out", "</SyncBody><SyncBody>", /not well-formed/],
    ["an XML declaration", '<?xml version="1.0"?><Get/>', /not well-formed/],
  ])("are refused with %s", (_, text, expected) => {
    expect(reason(() => readCommands(text))).toMatch(expected);
  });
});

it("authenticates by the digest of the security document's formula", () => {
  // Made with openssl: printf 'Bruce2:OhBehave' | openssl md5 -binary | base64, then with ":Nonce" again.
  expect(digestOf("Bruce2", "OhBehave", Buffer.from("Nonce"))).toBe("Zz6EivR3yeaaENcRN6lpAQ==");
});

const text = fc.string({ unit: "grapheme", maxLength: 30 }).filter((one) => !NOT_XML.test(one));
const word = fc.stringMatching(/^[A-Za-z0-9./_~-]{1,20}$/);
const item = fc
  .record({
    target: fc.option(word),
    source: fc.option(word),
    format: fc.option(word),
    type: fc.option(word),
    data: fc.option(text),
  })
  .map(syncItem);
const request = fc
  .record({ verb: fc.constantFrom(...requestVerbs), cmdId: word, items: fc.array(item, { maxLength: 3 }) })
  .map(({ verb, cmdId, items }) => syncCommand(verb, cmdId, { items }));
const container = fc
  .record({ verb: fc.constantFrom(...containerVerbs), cmdId: word, commands: fc.array(request, { maxLength: 3 }) })
  .map(({ verb, cmdId, commands }) => syncCommand(verb, cmdId, { commands }));
const status = fc
  .record({ cmdId: word, msgRef: word, cmdRef: word, cmd: word, data: word, nextNonce: word })
  .map(({ cmdId, nextNonce, ...rest }) =>
    syncCommand("Status", cmdId, { ...rest, challenge: { format: "b64", type: "syncml:auth-md5", nextNonce } }),
  );
const whole = fc.record({
  header: fc.record({
    sessionId: word,
    msgId: word,
    target: word,
    source: word,
    credentials: fc.option(fc.record({ format: word, type: word, data: word })),
    maxMsgSize: fc.option(fc.integer({ min: 1, max: 999_999_999 })),
  }),
  commands: fc.array(fc.oneof(request, container, status), { maxLength: 5 }),
  isFinal: fc.boolean(),
});

it("reads every message that it writes", () => {
  fc.assert(
    fc.property(whole, (one) => {
      expect(readSyncml(Buffer.from(writeSyncml(one)))).toEqual(one);
    }),
    { numRuns: amount(200, 5_000) },
  );
});

it("reads or refuses whatever bytes come, and never fails otherwise", () => {
  fc.assert(
    fc.property(whole, fc.nat(), fc.uint8Array({ maxLength: 8 }), (one, at, bytes) => {
      const written = Buffer.from(writeSyncml(one));
      const from = at % written.length;
      reason(() => readSyncml(Buffer.concat([written.subarray(0, from), bytes, written.subarray(from + 2)])));
    }),
    { numRuns: amount(300, 20_000) },
  );
});
