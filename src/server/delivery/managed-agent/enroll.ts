// Enrollment of managed agents (docs/protocols/managed-agent.md, Enrollment). The query engine of the same machine uses
// the same host row. See enrollment/README.md.

import { hardwareUuid } from "../../../agent-wire/firmware.ts";
import { signer } from "../../certificates/host-authentication/identity.ts";
import { checkEnrollSecret } from "../../hosts/enrollment/secret-check.ts";
import { isSerialNumber } from "../../hosts/hosts/serial-number.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError, authenticationFailed, invalid, limitExceeded, overBudget } from "../../platform/core/errors.ts";
import { proved } from "../../platform/core/http/strangers.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { copyRefused, recordCopy } from "./copies.ts";
import { detailsOf, type EnrollBody, managedAgentEnrollment } from "./kind.ts";

const KEY_BYTES = 32;

/** Returns the new agent key; a previous key of the host becomes invalid. */
export async function enrollAgent(ctx: Context, input: EnrollBody): Promise<string> {
  const secret = await checkEnrollSecret(ctx, input.enroll_secret, ctx);
  if ("wait" in secret) throw secret.wait > 0 ? limitExceeded(secret.wait) : authenticationFailed();
  const details = detailsOf(input);
  if (input.hardware_uuid.trim() === "") throw invalid("hardware_uuid", "hardware_uuid is required");
  const identity = await signer(ctx);
  if (identity && identity.hardware_uuid?.toLowerCase() !== input.hardware_uuid.trim().toLowerCase())
    throw invalid("hardware_uuid", "is not that of the identity that has signed the request");
  const named = hardwareUuid(input.qengine_identifier || input.osquery_identifier);
  const serial = isSerialNumber(details.hardware_serial) ? details.hardware_serial : "";
  const identifier = named || details.uuid || serial;
  if (identifier === "")
    throw invalid(
      "hardware_uuid",
      "other machines have the same hardware UUID, which is a placeholder of their boards: set another one with " +
        "--hardware-uuid",
    );
  const key = ctx.random.token(KEY_BYTES);
  const outcome = await ctx.running.of(managedAgentEnrollment).enroll({
    identifier,
    ...(named === "" && details.uuid !== "" ? { uuid: details.uuid } : {}),
    ...(details.platform === "darwin" ? { hardware: { uuid: details.uuid, serial: details.hardware_serial } } : {}),
    teamId: secret.teamId,
    secretHash: secret.secretHash,
    ...(identity?.host_id ? { hostId: identity.host_id } : {}),
    isProved: Boolean(identity?.host_id),
    address: ctx.address,
    keyHash: tokenHash(key),
    identity,
    details,
    machine: input.agent_machine,
  });
  if (!("refused" in outcome)) {
    proved(ctx);
    return key;
  }
  if (outcome.refused === "machine") {
    await recordCopy(ctx, outcome.hostId ?? 0, "copy");
    throw copyRefused();
  }
  const reason = `enroll host failed: ${outcome.reason}`;
  throw outcome.wait > 0 ? overBudget(reason, outcome.wait) : new ApiError(403, reason, [{ name: "base", reason }]);
}
