// The states of a profile on a host, row by row of the table in src/server/devices/profiles/README.md.
import { describe, expect, it } from "vitest";
import { eventsOfReport } from "../../../src/server/devices/profiles/host-rows.ts";
import type { HostProfileRow } from "../../../src/server/devices/profiles/platform.ts";
import { nextState, type ProfileEvent, type ProfileState } from "../../../src/server/devices/profiles/state.ts";
import { hours, isoAt, minutes } from "../../../src/server/platform/core/clock.ts";

const SENT = Date.parse("2026-03-01T12:00:00.700Z");
const since = "2026-03-01T12:00:00.000Z";
const isoAfter = (milliseconds: number) => isoAt(Date.parse(since) + milliseconds);

const state = (given: Partial<ProfileState>): ProfileState => ({
  operation_type: "install",
  status: null,
  detail: "",
  retries: 0,
  command_uuid: null,
  installed_after: null,
  ...given,
});
const pending = state({ status: "pending", command_uuid: "c-1", installed_after: since });
const verifying = state({ ...pending, status: "verifying" });
const verified = state({ ...pending, status: "verified" });
const failed = state({ ...pending, status: "failed", retries: 1, detail: "no" });
const removing = state({ ...pending, operation_type: "remove" });
const listed = (installed_at: string | null, reported: number): ProfileEvent => ({
  type: "listed",
  installed_at,
  reported_at: isoAfter(reported),
});
const missing = (reported: number): ProfileEvent => ({ type: "missing", reported_at: isoAfter(reported) });
const error: ProfileEvent = { type: "error", detail: "refused" };

describe("a profile on a host", () => {
  it("to do: is pending when its command is queued, and remembers when, in whole seconds", () => {
    const next = nextState(state({ retries: 1 }), { type: "queued", command_uuid: "c-1", at: isoAt(SENT) });
    expect(next).toEqual({ ...pending, retries: 1 });
  });

  it("to do: fails if it cannot be sent", () => {
    expect(nextState(state({}), { type: "unsendable", detail: "no value" })).toMatchObject({
      status: "failed",
      detail: "no value",
    });
  });

  it("pending: is verifying when the host has acknowledged it", () => {
    expect(nextState(pending, { type: "acknowledged" })).toEqual(verifying);
  });

  it("pending: is tried once more after an error, and has failed after the second", () => {
    const again = nextState(pending, error);
    expect(again).toEqual(state({ retries: 1, installed_after: since }));
    expect(nextState({ ...pending, retries: 1 }, error)).toMatchObject({ status: "failed", detail: "refused" });
  });

  it.each([verifying, verified])(
    "$status: is verified when a report lists it, no older than the installation",
    (it) => {
      expect(nextState(it, listed(since, minutes(1)))).toMatchObject({ status: "verified", detail: "" });
      expect(nextState(it, listed(null, minutes(1)))).toMatchObject({ status: "verified" });
    },
  );

  it("verified: a report that lists it changes nothing", () => {
    expect(nextState(verified, listed(isoAfter(minutes(5)), hours(3)))).toBe(verified);
  });

  it.each([verifying, verified])("$status: stays so for an hour while reports do not list it", (it) => {
    expect(nextState(it, missing(hours(1) - 1))).toBe(it);
    expect(nextState(it, listed(isoAfter(-1), hours(1) - 1))).toBe(it);
  });

  it.each([verifying, verified])("$status: is sent again after that hour, and fails if it has been before", (it) => {
    for (const event of [missing(hours(1)), listed(isoAfter(-1), hours(1))]) {
      expect(nextState(it, event)).toMatchObject({ status: null, retries: 1, command_uuid: null });
      expect(nextState({ ...it, retries: 1 }, event)).toMatchObject({ status: "failed" });
    }
  });

  it("failed: is verified when a later report lists it", () => {
    expect(nextState(failed, listed(isoAfter(1), hours(2)))).toMatchObject({ status: "verified", detail: "" });
    expect(nextState(failed, missing(hours(2)))).toBe(failed);
  });

  it.each([state({}), pending, verifying, verified, failed, removing])(
    "$operation_type $status: is to do again after a change, without retries",
    (it) => {
      expect(nextState(it, { type: "changed" })).toMatchObject({
        operation_type: "install",
        status: null,
        retries: 0,
        detail: "",
        command_uuid: null,
      });
    },
  );

  it("not wanted any more: is removed, or forgotten if it was never sent", () => {
    expect(nextState(verified, { type: "unwanted" })).toMatchObject({ operation_type: "remove", status: null });
    expect(nextState(state({}), { type: "unwanted" })).toBe("gone");
    expect(nextState(removing, { type: "unwanted" })).toBe(removing);
  });

  it("being removed: is gone when the host has done it or did not have it, and fails otherwise", () => {
    expect(nextState(removing, { type: "acknowledged" })).toBe("gone");
    expect(nextState(removing, { ...error, isGone: true })).toBe("gone");
    expect(nextState(removing, error)).toMatchObject({ status: "failed", detail: "refused", operation_type: "remove" });
    expect(nextState(removing, missing(hours(5)))).toBe(removing);
  });

  it("ignores answers to commands that it does not wait for, and reports while it is to do or pending", () => {
    for (const one of [state({}), verifying, verified, failed]) {
      expect(nextState(one, { type: "acknowledged" })).toBe(one);
      expect(nextState(one, error)).toBe(one);
    }
    for (const one of [state({}), pending]) {
      expect(nextState(one, listed(isoAfter(1), hours(2)))).toBe(one);
      expect(nextState(one, missing(hours(2)))).toBe(one);
    }
  });

  it("is compared with the newest of several installations in a report", () => {
    const row = { id: 1, host_id: 1, identifier: "a", ...verifying } as HostProfileRow;
    const old = { identifier: "a", installed_at: isoAfter(-1) };
    const events = eventsOfReport([row], [old, { identifier: "a", installed_at: isoAfter(1) }, old], SENT + hours(2));
    expect(events.map(({ event }) => event)).toMatchObject([{ type: "listed", installed_at: isoAfter(1) }]);
    expect(eventsOfReport([{ ...row, ...verified }], [{ identifier: "a", installed_at: isoAfter(1) }], SENT)).toEqual(
      [],
    );
  });
});
