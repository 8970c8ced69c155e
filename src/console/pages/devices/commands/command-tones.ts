import type { Command } from "../../../../api/devices/commands.ts";
import type { Tone } from "../../../parts/badge.tsx";

export const commandTones: Readonly<Record<Command["command_status"], Tone>> = {
  ran: "good",
  pending: "note",
  failed: "bad",
};
