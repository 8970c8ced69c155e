// Messages of the vendor about devices. Each may arrive several times, late, or before another one that is older. A
// message that was answered with success is not sent again, so it is answered once everything is stored.
import { z } from "zod";
import { bytesOfBase64 } from "../../../../text/base64.ts";
import { days, isoAt } from "../../../platform/core/clock.ts";
import type { Context, Services } from "../../../platform/core/context.ts";
import { badRequest } from "../../../platform/core/errors.ts";
import { eq, lt } from "../../../platform/store/query.ts";
import { takeCommandMessage } from "../commands/answers.ts";
import { endDevice } from "../commands/leave.ts";
import { deviceNamed, enrollDevice, isNewest } from "../devices/enroll.ts";
import { androidReports, markSeen } from "../devices/ingest.ts";
import { AndroidDevice, hasLeft } from "../devices/report.ts";
import { enterpriseRow } from "../enterprise/enterprise.ts";
import { policyReported } from "../policies/reported.ts";

const Push = z.object({
  message: z.object({
    attributes: z.record(z.string(), z.string()).default({}),
    data: z.string().default(""),
    messageId: z.string().min(1).max(255),
  }),
});

/** `checkSender` has found that the message is the vendor's. */
export async function takeMessage(ctx: Context, bytes: Uint8Array): Promise<void> {
  const { message } = parsed(Push, Buffer.from(bytes).toString("utf8"), "body");
  const { store, clock } = ctx;
  if ((await store.androidMessages.first({ where: eq("message_id", message.messageId) })) !== null) return;
  const type = message.attributes.notificationType ?? "";
  if (type === "ENROLLMENT" || type === "STATUS_REPORT") await takeDevice(ctx, dataOf(AndroidDevice, message.data));
  // Messages of unknown types, such as tests of the topic, are not sent again.
  else if (type === "COMMAND") await takeCommandMessage(ctx, dataOf(z.unknown(), message.data));
  const row = { message_id: message.messageId, received_at: clock.iso() };
  await store.androidMessages.upsert([row], { on: ["message_id"], set: [], returning: [] });
}

/** For longer than the vendor repeats a message. */
const MESSAGES_KEPT = days(14);

export const forgetMessages = ({ store, clock }: Pick<Services, "store" | "clock">): Promise<number> =>
  store.androidMessages.delete(lt("received_at", isoAt(clock.now() - MESSAGES_KEPT)));

function parsed<T>(schema: z.ZodType<T>, text: string, field: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badRequest(`the ${field} is not JSON`, field);
  }
  const result = schema.safeParse(value);
  if (!result.success) throw badRequest(`the ${field} is not a message of the Android Management API`, field);
  return result.data;
}

function dataOf<T>(schema: z.ZodType<T>, data: string): T {
  const bytes = bytesOfBase64(data);
  if (bytes === null) throw badRequest("the data is not base64", "data");
  return parsed(schema, bytes.toString("utf8"), "data");
}

export async function takeDevice(ctx: Context, device: AndroidDevice): Promise<void> {
  const enterprise = await enterpriseRow(ctx.store);
  if (!enterprise || !device.name.startsWith(`${enterprise.name}/devices/`)) return;
  const existing = await deviceNamed(ctx, device.name);
  if (hasLeft(device)) return existing ? endDevice(ctx, existing) : undefined;
  const row = existing ?? (await enrollDevice(ctx, device));
  if (row === null || !(await isNewest(ctx, row, device))) return;
  await ctx.running.of(androidReports).add({ hostId: row.host_id, device });
  await markSeen(ctx, row.host_id);
  await policyReported(ctx, row, device);
}
