// When events for users of failing hosts take place.
import { describe, expect, it } from "vitest";
import { chooseTime, instantOf, isTimeZone, type Span } from "../../src/server/automations/calendar/slots.ts";

const at = (text: string) => Date.parse(text);
const span = (start: string, end: string): Span => ({ start: at(start), end: at(end) });
const chosen = (now: string, zone: string, ...busy: Span[]) => {
  const { start, end } = chooseTime(at(now), zone, busy);
  expect(end - start).toBe(30 * 60_000);
  return new Date(start).toISOString();
};

describe("the time of an event", () => {
  it.each([
    ["a Sunday", "2026-03-01T12:00:00Z", "Europe/Berlin", "2026-03-02T08:00:00.000Z"],
    ["a Friday: not at the weekend", "2026-03-06T12:00:00Z", "Europe/Berlin", "2026-03-09T08:00:00.000Z"],
    ["it is tomorrow there already", "2026-03-01T23:30:00Z", "Asia/Tokyo", "2026-03-03T00:00:00.000Z"],
    ["it is still yesterday there", "2026-03-03T03:00:00Z", "America/Los_Angeles", "2026-03-03T17:00:00.000Z"],
    ["the clocks change in between", "2026-03-27T12:00:00Z", "Europe/Berlin", "2026-03-30T07:00:00.000Z"],
    ["an offset of 45 minutes", "2026-03-02T00:00:00Z", "Asia/Kathmandu", "2026-03-03T03:15:00.000Z"],
  ])("is at nine on the next working day: %s", (_, now, zone, wanted) => {
    expect(chosen(now, zone)).toBe(wanted);
  });

  it("is the first half hour in which nothing else is in the calendar", () => {
    const now = "2026-03-01T12:00:00Z";
    const morning = span("2026-03-02T08:00:00Z", "2026-03-02T10:15:00Z");
    expect(chosen(now, "Europe/Berlin", morning)).toBe("2026-03-02T10:30:00.000Z");
    const gap = span("2026-03-02T08:30:00Z", "2026-03-02T16:00:00Z");
    expect(chosen(now, "Europe/Berlin", gap)).toBe("2026-03-02T08:00:00.000Z");
    const day = span("2026-03-01T23:00:00Z", "2026-03-02T23:00:00Z");
    expect(chosen(now, "Europe/Berlin", day)).toBe("2026-03-03T08:00:00.000Z");
  });

  it("is the last half hour of the next working day if there is no free one", () => {
    const away = span("2026-02-01T00:00:00Z", "2026-04-01T00:00:00Z");
    expect(chosen("2026-03-01T12:00:00Z", "Europe/Berlin", away)).toBe("2026-03-02T15:30:00.000Z");
  });

  it("is a time that clocks show, also in the hour that they skip", () => {
    const day = { year: 2026, month: 3, day: 29 };
    expect(instantOf(day, 0, "Europe/Berlin")).toBe(at("2026-03-28T23:00:00Z"));
    expect(instantOf(day, 4 * 60, "Europe/Berlin")).toBe(at("2026-03-29T02:00:00Z"));
    expect([isTimeZone("Europe/Berlin"), isTimeZone("Nowhere/Land")]).toEqual([true, false]);
  });
});
