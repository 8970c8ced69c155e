// The commands by which profiles reach Apple devices.
import { profileAnswered } from "../../profiles/host-rows.ts";
import { type AppleAnswer, appleCommandKind } from "../commands/kind.ts";

export const appleProfileCommand = appleCommandKind({
  name: "apple_profile",
  title: "profile",
  async ended(inside, operation, { state, result }) {
    if (result === null) return;
    const event = state === "answered" ? ({ type: "acknowledged" } as const) : errorOf(result);
    await profileAnswered(inside, operation.host_id, operation.uuid, event);
  },
});

const errorOf = ({ status, detail }: AppleAnswer) =>
  ({ type: "error", detail: detail === "" ? `the device answered ${status}` : detail }) as const;
