// Messages of device enrollment: read, written, and refused.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDiscover, readDiscovered, writeDiscover, writeDiscovered } from "../../src/soap/discovery.ts";
import { BadSoap, readEnvelope, writeEnvelope } from "../../src/soap/envelope.ts";
import { faultIn, writeFault } from "../../src/soap/fault.ts";
import { actions, ns, requestTypes, tokenTypes, valueTypes } from "../../src/soap/names.ts";
import { characteristic, find, parameterOf, readProvisioning, writeProvisioning } from "../../src/soap/provisioning.ts";
import { readTokenReply, readTokenRequest, writeTokenReply, writeTokenRequest } from "../../src/soap/token.ts";
import { amount } from "../support/engines.ts";

const read = (text: string) => readEnvelope(Buffer.from(text));

describe("a request for a certificate", () => {
  it("is read as devices send it", () => {
    const envelope =
      read(`<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:a="http://www.w3.org/2005/08/addressing"
 xmlns:u="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"
 xmlns:wsse="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
 xmlns:wst="http://docs.oasis-open.org/ws-sx/ws-trust/200512" xmlns:ac="http://schemas.xmlsoap.org/ws/2006/12/authorization">
<s:Header><a:Action s:mustUnderstand="1">http://schemas.microsoft.com/windows/pki/2009/01/enrollment/RST/wstep</a:Action>
<a:MessageID>urn:uuid:0d5a1441-5891-453b-becf-a2e5f6ea3749</a:MessageID>
<a:ReplyTo><a:Address>http://www.w3.org/2005/08/addressing/anonymous</a:Address></a:ReplyTo>
<a:To s:mustUnderstand="1">https://mdm.example.com:443/enroll</a:To>
<wsse:Security s:mustUnderstand="1"><wsse:BinarySecurityToken
 ValueType="http://schemas.microsoft.com/5.0.0.0/ConfigurationManager/Enrollment/DeviceEnrollmentUserToken"
 EncodingType="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd#base64binary">B64EncodedSampleBinarySecurityToken</wsse:BinarySecurityToken></wsse:Security>
</s:Header><s:Body><wst:RequestSecurityToken>
<wst:TokenType>http://schemas.microsoft.com/5.0.0.0/ConfigurationManager/Enrollment/DeviceEnrollmentToken</wst:TokenType>
<wst:RequestType>http://docs.oasis-open.org/ws-sx/ws-trust/200512/Issue</wst:RequestType>
<wsse:BinarySecurityToken ValueType="http://schemas.microsoft.com/windows/pki/2009/01/enrollment#PKCS10"
 EncodingType="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd#base64binary">MIIC
zjCC</wsse:BinarySecurityToken>
<ac:AdditionalContext xmlns="http://schemas.xmlsoap.org/ws/2006/12/authorization">
<ac:ContextItem Name="OSEdition"><ac:Value>4</ac:Value></ac:ContextItem>
<ac:ContextItem Name="HWDevID"><ac:Value>7BA748C8703E5DF2</ac:Value></ac:ContextItem>
<ac:ContextItem Name="NotInOobe"><ac:Value>true</ac:Value></ac:ContextItem>
</ac:AdditionalContext></wst:RequestSecurityToken></s:Body></s:Envelope>`);
    expect(envelope).toMatchObject({
      action: actions.requestToken,
      messageId: "urn:uuid:0d5a1441-5891-453b-becf-a2e5f6ea3749",
      token: { valueType: tokenTypes.user, text: "B64EncodedSampleBinarySecurityToken" },
    });
    expect(readTokenRequest(envelope.content)).toEqual({
      requestType: requestTypes.issue,
      request: { valueType: valueTypes.pkcs10, text: "MIIC\nzjCC" },
      context: new Map([
        ["OSEdition", "4"],
        ["HWDevID", "7BA748C8703E5DF2"],
        ["NotInOobe", "true"],
      ]),
    });
  });

  it("is written as it is read, and its reply too", () => {
    const request = {
      requestType: requestTypes.renew,
      request: { valueType: valueTypes.pkcs7, text: "AAAA" },
      context: new Map([["DeviceID", 'a "b" & <c>']]),
    };
    const token = { valueType: tokenTypes.user, text: "dG9rZW4=" };
    const envelope = read(
      writeEnvelope({ action: actions.requestToken, messageId: "urn:uuid:1", token, body: writeTokenRequest(request) }),
    );
    expect(envelope.token).toEqual(token);
    expect(readTokenRequest(envelope.content)).toEqual(request);
    const document = writeProvisioning([
      characteristic("CertificateStore", [], characteristic("My", [{ name: "A", value: 'x "<>&\n' }, { name: "B" }])),
    ]);
    const reply = read(
      writeEnvelope({ action: actions.token, relatesTo: "urn:uuid:1", body: writeTokenReply(document) }),
    );
    expect(reply.relatesTo).toBe("urn:uuid:1");
    const found = readProvisioning(readTokenReply(reply.content));
    expect(parameterOf(find(found, "CertificateStore", "My"), "A")).toBe('x "<>&\n');
    expect(parameterOf(find(found, "CertificateStore", "Other"), "A")).toBeNull();
  });
});

it("writes a discovery as it is read", () => {
  const asked = {
    email: "ana@example.com",
    version: "5.0",
    deviceType: "CIMClient_Windows",
    authPolicies: ["OnPremise", "Federated"],
  };
  expect(readDiscover(read(writeEnvelope({ action: actions.discover, body: writeDiscover(asked) })).content)).toEqual(
    asked,
  );
  const found = {
    authPolicy: "Federated" as const,
    version: "4.0",
    policyUrl: "https://a/policy",
    enrollmentUrl: "https://a/enroll",
    authenticationUrl: "https://a/auth?x=1&y=2",
  };
  expect(
    readDiscovered(read(writeEnvelope({ action: actions.discovered, body: writeDiscovered(found) })).content),
  ).toEqual(found);
});

it("names the reason of a fault", () => {
  const text = writeFault("InvalidSecurity", "the token <x> has expired", "urn:uuid:1");
  expect(text).toContain("<s:Value>a:InvalidSecurity</s:Value>");
  expect(faultIn(read(text))).toEqual({ code: "InvalidSecurity", reason: "the token <x> has expired" });
  expect(faultIn(read(writeEnvelope({ action: "x", body: "<x/>" })))).toBeNull();
});

const envelope = (body: string, head = "") =>
  `${head}<s:Envelope xmlns:s="${ns.soap}"><s:Header/><s:Body>${body}</s:Body></s:Envelope>`;

it.each([
  ["a DOCTYPE", envelope("<x/>", '<!DOCTYPE x [<!ENTITY e "e">]>'), /DOCTYPE/],
  ["SOAP 1.1", '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"/>', /SOAP 1.2/],
  ["an empty body", envelope(""), /single element/],
  ["two elements", envelope("<x/><y/>"), /single element/],
  ["depth", envelope("<x>".repeat(70) + "</x>".repeat(70)), /nested too deeply/],
  [
    "endless attributes",
    envelope(`<x ${Array.from({ length: 10_001 }, (_, i) => `a${i}="1"`).join(" ")}/>`),
    /too many parts/,
  ],
])("refuses %s", (_, text, expected) => {
  expect(() => read(text)).toThrow(expected);
  expect(() => read(text)).toThrow(BadSoap);
});

it("reads or refuses whatever bytes come", () => {
  const written = Buffer.from(
    writeEnvelope({
      action: actions.discover,
      body: writeDiscover({ email: "a@b", version: "4.0", deviceType: "x", authPolicies: ["OnPremise"] }),
    }),
  );
  fc.assert(
    fc.property(fc.nat(written.length - 1), fc.uint8Array({ maxLength: 8 }), (from, bytes) => {
      try {
        readDiscover(
          readEnvelope(Buffer.concat([written.subarray(0, from), bytes, written.subarray(from + 2)])).content,
        );
      } catch (error) {
        expect(error).toBeInstanceOf(BadSoap);
      }
    }),
    { numRuns: amount(300, 20_000) },
  );
});
