// Whatever enrolled Apple devices send is answered, and never fails otherwise. `npm run test:soak -- apple-fuzz` is the
// long form.
import { expect, it } from "vitest";
import { readCertificate } from "../../../src/pki/x509.ts";
import { startApp } from "../../support/app.ts";
import { CHANNEL, newIdentity } from "../../support/apple-device.ts";
import { fuzzApple } from "../../support/apple-fuzz.ts";
import { amount, rulesEngines } from "../../support/engines.ts";

const SCEP = "/mdm/vendora/scep?operation=";

it.each(rulesEngines)("on %s", async (engine) => {
  const t = await startApp({ engine });
  const ca = readCertificate(Buffer.from(await (await t.raw(`${SCEP}GetCACert`)).arrayBuffer()));
  const devices = [];
  for (let i = 0; i < 3; i++)
    devices.push({ udid: `0000${i}000-0000-4000-8000-000000000000`, identity: await newIdentity(t, null, i) });
  const { faults, byStatus } = await fuzzApple({
    async send(to, body, headers) {
      // Time passes, so that refused requests do not make the server slow down its answers.
      t.clock.advance(1000);
      const path = to === "channel" ? CHANNEL : `${SCEP}PKIOperation`;
      const reply = await t.raw(path, {
        method: to === "channel" ? "PUT" : "POST",
        headers,
        body: new Uint8Array(body),
      });
      await reply.arrayBuffer();
      return reply.status;
    },
    devices,
    ca,
    messages: amount(600, 10_000),
    seed: Number(process.env.FUZZ_SEED ?? 1),
    together: 4,
  });
  expect(faults).toEqual([]);
  expect(Object.keys(byStatus)).toEqual(expect.arrayContaining(["200", "400", "403"]));
});
