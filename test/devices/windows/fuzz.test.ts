// Whatever arrives instead of messages of Windows devices is refused, and never fails otherwise.
import fc from "fast-check";
import { expect, it } from "vitest";
import { requestFor } from "../../../src/simulator/windows/enrollment.ts";
import { writeDiscover } from "../../../src/soap/discovery.ts";
import { writeEnvelope } from "../../../src/soap/envelope.ts";
import { requestTypes } from "../../../src/soap/names.ts";
import { writeTokenRequest } from "../../../src/soap/token.ts";
import { syncCommand } from "../../../src/syncml/value.ts";
import { writeSyncml } from "../../../src/syncml/write.ts";
import { startApp } from "../../support/app.ts";
import { amount, rulesEngines } from "../../support/engines.ts";
import { deviceKey, factsOf, MANAGEMENT, managedWindows, statusFor, userToken } from "../../support/windows-device.ts";

const pieces = [
  "<",
  ">",
  "&",
  '"',
  "&#0;",
  "&#xFFFE;",
  "]]>",
  "<![CDATA[",
  "<!--",
  "\u0000",
  "\ud800",
  "é",
  "x".repeat(3_000),
  "-1",
  "",
];

const edits = fc.array(
  fc.record({ at: fc.nat(20_000), drop: fc.nat(40), copy: fc.nat(200), piece: fc.option(fc.constantFrom(...pieces)) }),
  { minLength: 1, maxLength: 4 },
);
type Edits = typeof edits extends fc.Arbitrary<infer T> ? T : never;

/** The text with a few places changed. */
const mutated = (text: string, changes: Edits): string =>
  changes.reduce((result, { at, drop, copy, piece }) => {
    const from = at % (result.length + 1);
    return result.slice(0, from) + (piece ?? result.slice(from, from + copy)) + result.slice(from + drop);
  }, text);

it.each(rulesEngines)(
  "on %s",
  async (engine) => {
    const t = await startApp({ engine });
    const { agent, device } = await managedWindows(t);
    const { header } = (await device.start()).message;
    const request = requestFor(await deviceKey());
    const enrollment = (requestType: string) => () =>
      writeEnvelope({
        action: "x",
        messageId: "urn:uuid:1",
        token: userToken(agent.key),
        body: writeTokenRequest({
          requestType,
          request,
          context: new Map(Object.entries(factsOf())),
        }),
      });
    const discovery = () =>
      writeEnvelope({
        action: "x",
        messageId: "urn:uuid:1",
        body: writeDiscover({ email: "", version: "5.0", deviceType: "x", authPolicies: ["OnPremise"] }),
      });
    const session = () =>
      writeSyncml({
        header: { ...header, source: device.facts.DeviceID, credentials: device.digest(device.nonce!) },
        commands: [
          syncCommand("Alert", "2", { data: "1201" }),
          statusFor("00000000-0000-0000-0000-000000000000.1", "Add", "200"),
          syncCommand("Atomic", "3", { commands: [syncCommand("Get", "4", { items: [{ target: "./a" }] })] }),
        ],
        isFinal: true,
      });
    const targets: [string, () => string][] = [
      ["/EnrollmentServer/Discovery.svc", discovery],
      ["/api/mdm/windows/policy", enrollment(requestTypes.issue)],
      ["/api/mdm/windows/enroll", enrollment(requestTypes.issue)],
      ["/api/mdm/windows/enroll", enrollment(requestTypes.renew)],
      [MANAGEMENT, session],
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...targets), edits, async ([path, make], changes) => {
        const body = mutated(make(), changes);
        const { status } = await t.raw(path, { method: "POST", body });
        expect(status, path).toBeLessThan(500);
      }),
      { numRuns: amount(400, 100_000) },
    );
  },
  3_600_000,
);
