// WAP provisioning documents: settings as a tree of characteristics with parameters (MS-MDE2, 3.3.4).
import { xmlAttribute } from "../xml/write.ts";
import { attribute, childrenOf, parseXml, type XmlElement } from "../xml/xml.ts";

export interface Parameter {
  readonly name: string;
  /** Absent: the parameter has only a name. */
  readonly value?: string;
  readonly datatype?: "string" | "integer" | "boolean";
}

export interface Characteristic {
  readonly type: string;
  readonly parameters: readonly Parameter[];
  readonly inner: readonly Characteristic[];
}

export const characteristic = (
  type: string,
  parameters: readonly Parameter[] = [],
  ...inner: readonly Characteristic[]
): Characteristic => ({ type, parameters, inner });

export const writeProvisioning = (characteristics: readonly Characteristic[]): string =>
  `<wap-provisioningdoc version="1.1">${characteristics.map(text).join("")}</wap-provisioningdoc>`;

const text = ({ type, parameters, inner }: Characteristic): string =>
  `<characteristic type="${xmlAttribute(type)}">${parameters.map(parameter).join("")}${inner.map(text).join("")}</characteristic>`;

const parameter = ({ name, value, datatype }: Parameter): string =>
  `<parm name="${xmlAttribute(name)}"${value === undefined ? "" : ` value="${xmlAttribute(value)}"`}${datatype === undefined ? "" : ` datatype="${datatype}"`}/>`;

export function readProvisioning(document: string): readonly Characteristic[] {
  return read(parseXml(document, { most: 10_000, lenient: true })).inner;
}

function read(element: XmlElement): Characteristic {
  const parameters = childrenOf(element, "", "parm").map((parm): Parameter => {
    const value = attribute(parm, "value");
    return { name: attribute(parm, "name") ?? "", ...(value === null ? {} : { value }) };
  });
  return {
    type: attribute(element, "type") ?? "",
    parameters,
    inner: childrenOf(element, "", "characteristic").map(read),
  };
}

/** The characteristic on this path, or null. */
export const find = (all: readonly Characteristic[], ...path: readonly string[]): Characteristic | null =>
  path.reduce<Characteristic | null>(
    (characteristic, type) => characteristic?.inner.find((inner) => inner.type === type) ?? null,
    characteristic("", [], ...all),
  );

export const parameterOf = (characteristic: Characteristic | null, name: string): string | null =>
  characteristic?.parameters.find((parameter) => parameter.name === name)?.value ?? null;
