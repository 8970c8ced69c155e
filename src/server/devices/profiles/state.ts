// The states of a profile on a host, as a pure function: what an event makes of a state.
import { hours, isoAt } from "../../platform/core/clock.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { hostProfiles } from "./tables.ts";

export type ProfileState = Pick<
  RowOf<typeof hostProfiles>,
  "operation_type" | "status" | "detail" | "retries" | "command_uuid" | "installed_after"
>;

export type ProfileEvent =
  /** The command was queued for the host. */
  | { readonly type: "queued"; readonly command_uuid: string | null; readonly at: string }
  /** The host has done it. */
  | { readonly type: "acknowledged" }
  /** `isGone`: what is to be removed is not there. */
  | { readonly type: "error"; readonly detail: string; readonly isGone?: boolean }
  /** The profile cannot be sent, and a repetition would not help: a variable has no value, for example. */
  | { readonly type: "unsendable"; readonly detail: string }
  /** The host reports what is installed. `installed_at` is null if it does not say since when. */
  | { readonly type: "listed"; readonly installed_at: string | null; readonly reported_at: string }
  /** `detail`: what is missing of it, if the host reports that. */
  | { readonly type: "missing"; readonly reported_at: string; readonly detail?: string }
  /** The host reports on exactly what it was sent last. `valid`: it could apply it, but it is not active. */
  | { readonly type: "declared"; readonly state: "active" | "valid" | "invalid"; readonly detail: string }
  /** The host reports that it does not have what is to be removed. */
  | { readonly type: "removed" }
  /** Content, variables or team have changed, or a user sends it again. */
  | { readonly type: "changed" }
  /** The host is not to have it any more. */
  | { readonly type: "unwanted" };

/** How often a failed or lost installation is repeated. */
const MAX_RETRIES = 1;
/** A report may have been collected before the host has applied the profile. */
const GRACE = hours(1);

const waiting = (state: ProfileState, retries: number, detail = ""): ProfileState => ({
  ...state,
  status: null,
  retries,
  detail,
  command_uuid: null,
});

const again = (state: ProfileState, detail: string): ProfileState =>
  state.retries < MAX_RETRIES
    ? waiting(state, state.retries + 1)
    : { ...state, status: "failed", detail, command_uuid: null };

/** The next state; `gone` if nothing is left to be known of the profile on this host. */
export function nextState(state: ProfileState, event: ProfileEvent): ProfileState | "gone" {
  switch (event.type) {
    case "queued":
      return {
        ...state,
        status: "pending",
        detail: "",
        command_uuid: event.command_uuid,
        // Hosts report whole seconds.
        installed_after: isoAt(Math.floor(Date.parse(event.at) / 1000) * 1000),
      };
    case "changed":
      return state.operation_type === "install"
        ? waiting(state, 0)
        : waiting({ ...state, operation_type: "install" }, 0);
    case "unwanted":
      if (state.operation_type === "remove") return state;
      // The profile was never sent, so the host does not have it.
      if (state.status === null && state.installed_after === null) return "gone";
      return waiting({ ...state, operation_type: "remove" }, 0);
    case "unsendable":
      return { ...state, status: "failed", detail: event.detail, command_uuid: null };
    case "acknowledged":
      if (state.status !== "pending") return state;
      return state.operation_type === "remove" ? "gone" : { ...state, status: "verifying", detail: "" };
    case "error":
      if (state.status !== "pending") return state;
      if (state.operation_type === "install") return again(state, event.detail);
      return event.isGone ? "gone" : { ...state, status: "failed", detail: event.detail, command_uuid: null };
    case "listed": {
      if (state.operation_type === "remove") return state;
      const since = state.installed_after;
      if (since !== null && event.installed_at !== null && event.installed_at < since)
        return absent(state, event.reported_at, "The host has an older version of the profile.");
      return state.status === "verifying" || state.status === "failed"
        ? { ...state, status: "verified", detail: "" }
        : state;
    }
    case "missing":
      return absent(
        state,
        event.reported_at,
        event.detail ?? "The profile is not installed on the host, although it was sent.",
      );
    case "declared":
      return declared(state, event);
    case "removed":
      return state.operation_type === "remove" ? "gone" : state;
  }
}

function absent(state: ProfileState, reportedAt: string, detail: string): ProfileState {
  if (state.operation_type === "remove") return state;
  if (state.status !== "verifying" && state.status !== "verified") return state;
  const since = state.installed_after === null ? 0 : Date.parse(state.installed_after);
  return Date.parse(reportedAt) < since + GRACE ? state : again(state, detail);
}

const statusOfDeclared = { active: "verified", valid: "verifying", invalid: "failed" } as const;

/** A report about a declaration may come before the answer to the command. */
function declared(state: ProfileState, event: Extract<ProfileEvent, { type: "declared" }>): ProfileState {
  if (state.operation_type === "remove" || state.status === null) return state;
  const status = statusOfDeclared[event.state];
  return state.status === status && state.detail === event.detail ? state : { ...state, status, detail: event.detail };
}
