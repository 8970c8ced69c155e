import fc from "fast-check";
import { expect, it } from "vitest";
import { type AlternativeName, parseAlternativeNames, writeAlternativeNames } from "../../src/pki/alternative-names.ts";
import { BadName } from "../../src/pki/names.ts";

const value = fc
  .string({ minLength: 1, maxLength: 20 })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are not allowed
  .map((text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "").trim())
  .filter((text) => text !== "");
const name: fc.Arbitrary<AlternativeName> = fc.record({
  kind: fc.constantFrom("DNS", "EMAIL", "UPN", "IP", "URI"),
  value,
});

it("what was written is read, whatever the values contain", () => {
  fc.assert(
    fc.property(fc.array(name, { maxLength: 5 }), (names) => {
      expect(parseAlternativeNames(writeAlternativeNames(names))).toEqual(names);
    }),
  );
});

it("any text is read or refused, and a value never becomes another name", () => {
  const pieces = fc.constantFrom("DNS=", "upn =", ",", "\\", "\\,", "a", " ", "=", "URI=x", "\n");
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
      try {
        const names = parseAlternativeNames(parts.join(""));
        expect(parseAlternativeNames(writeAlternativeNames(names))).toEqual(names);
        const one = [{ kind: "DNS" as const, value: parts.join("").replaceAll("\n", "").trim() || "x" }];
        expect(parseAlternativeNames(writeAlternativeNames(one))).toHaveLength(1);
      } catch (error) {
        expect(error).toBeInstanceOf(BadName);
      }
    }),
  );
});
