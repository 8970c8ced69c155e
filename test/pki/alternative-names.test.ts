import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type AlternativeName,
  encodeAlternativeNames,
  parseAlternativeNames,
  writeAlternativeNames,
} from "../../src/pki/alternative-names.ts";
import { BadName, parseName } from "../../src/pki/names.ts";
import { makeRequest, readRequest } from "../../src/pki/request.ts";
import { newKey } from "../../src/pki/x509.ts";

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

it("openssl reads the names of a request", async () => {
  const text = "DNS=a.example.com, EMAIL=a@example.com, UPN=ä@example.com, IP=192.0.2.7, IP=2001:db8::7, URI=urn:x:1";
  const names = parseAlternativeNames(text);
  const request = makeRequest(parseName("/CN=x"), await newKey(), "secret", names);
  const printed = execFileSync("openssl", ["req", "-inform", "DER", "-noout", "-text", "-verify"], {
    input: request,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "ignore"],
  });
  for (const one of ["DNS:a.example.com", "email:a@example.com", "IP Address:192.0.2.7", "URI:urn:x:1"])
    expect(printed).toContain(one);
  expect(printed).toContain("IP Address:2001:DB8:0:0:0:0:0:7");
  expect(printed).toMatch(/UPN:|1\.3\.6\.1\.4\.1\.311\.20\.2\.3|othername:/);
  expect(printed).toMatch(/challengePassword\s*:\s*secret/);
  expect(readRequest(request).names).toHaveLength(names.length);
});

it("an IP address that is none is refused", () => {
  for (const value of ["192.0.2", "2001:db8:::1", "localhost", "::1%eth0"])
    expect(() => encodeAlternativeNames([{ kind: "IP", value }]), value).toThrow(BadName);
});
