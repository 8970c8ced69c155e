// kill -9 of the server around each step of a mail about a failing policy: it is neither lost nor a second mail.
import { beforeAll, expect, it } from "vitest";
import { enroll, SECRET, throughUrl } from "../edge/agent/agents.ts";
import { signIn } from "../soak/apple-devices.ts";
import { Bed } from "../soak/support/bed.ts";
import { amount, killedEngines } from "../support/engines.ts";
import { smtpSettings, startSmtp } from "../support/smtp.ts";
import { build } from "./support/svc.ts";

beforeAll(build);

it.each(killedEngines)(
  "mails each failing host once (%s)",
  async (engine) => {
    const smtp = await startSmtp();
    const bed = await Bed.make({ engine, env: { SVC_OUTBOUND_ALLOW: "127.0.0.1" } });
    const kill = async () => {
      const { process } = bed.alive;
      const ended = new Promise((resolve) => process.once("exit", resolve));
      process.kill("SIGKILL");
      await ended;
    };
    try {
      await bed.start();
      const api = await signIn(bed);
      await api.call("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
      const made = await api.call("POST", "/global/policies", { name: "Disk", query: "SELECT 1" });
      const { policy } = made as { policy: { id: number } };
      const { configured: _, ...smtp_settings } = smtpSettings(smtp.port);
      await api.call("PATCH", "/config", {
        smtp_settings,
        webhook_settings: {
          failing_policies_webhook: { policy_ids: [policy.id] },
          failing_policies_mail: {
            enable_failing_policies_mail: true,
            recipients: ["ann@example.com"],
            digest: "immediately",
          },
        },
      });
      const times = Array.from({ length: amount(2, 12) }, (_unused, i) => i * 40);
      for (const [i, ms] of times.entries()) {
        const { send, close } = throughUrl(bed.url, 1);
        const serial = `killed-${i}-end`;
        const node_key = await enroll(send, {
          host_identifier: serial,
          host_details: { system_info: { hostname: serial, uuid: serial, hardware_serial: serial } },
        });
        const reply = await send("/api/v1/qengine/distributed/write", {
          node_key,
          queries: { [`svc_policy_query_${policy.id}`]: [] },
          statuses: { [`svc_policy_query_${policy.id}`]: 0 },
        });
        expect(reply.status).toBe(200);
        close();
        await kill();
        await bed.start();
        // The first run of the job, or the mail, is in progress when the server is killed again.
        // A server may run the job at its start already.
        await api.call("POST", "/trigger?name=policy_mails").catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, ms));
        await kill();
        await bed.start();
        const mailed = () => smtp.mails.filter(({ text }) => text?.includes(serial));
        await expect
          .poll(
            async () => {
              await api.call("POST", "/trigger?name=policy_mails").catch(() => {});
              return mailed().length;
            },
            // A mail that could not be sent is tried again a minute later.
            { timeout: 240_000, interval: 500 },
          )
          .toBeGreaterThan(0);
        await smtp.quiet();
        // A mail that the mail server had accepted without the server's knowledge is sent again, as the same one.
        expect([i, new Set(mailed().map(({ messageId }) => messageId)).size]).toEqual([i, 1]);
      }
      await bed.stop();
      await bed.dbCheck();
    } finally {
      await bed.dispose();
    }
  },
  600_000,
);
