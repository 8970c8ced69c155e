// The form of errors, by the media type of an endpoint's JSON.
import { JSON_TYPE, type MediaType, SCIM } from "../../../../api/endpoint.ts";
import { scimUrns } from "../../../../api/hosts/scim.ts";
import type { ApiError } from "../errors.ts";
import type { ErrorReply, FailedRequest, Protocol } from "./protocol.ts";

/** RFC 7644, table 9. In an `ApiError`, the type is the name of the first error. */
const scimTypes = [
  "invalidFilter",
  "invalidPath",
  "invalidSyntax",
  "invalidValue",
  "mutability",
  "noTarget",
  "tooMany",
  "uniqueness",
] as const;
export type ScimType = (typeof scimTypes)[number];

const isScimType = (name: string): name is ScimType => (scimTypes as readonly string[]).includes(name);

function typeOf({ status, errors }: ApiError): ScimType | null {
  const name = errors[0]?.name ?? "base";
  if (isScimType(name)) return name;
  if (status === 409) return "uniqueness";
  if (status === 400) return name === "base" ? "invalidSyntax" : "invalidValue";
  return null;
}

/** RFC 7644, section 3.12. The API's own form is in it too, for other clients. */
function scimError(error: ApiError, { id }: FailedRequest): ErrorReply {
  const scimType = typeOf(error);
  const detail = error.errors
    .map(({ name, reason }) => (name === "base" || isScimType(name) ? reason : `${name}: ${reason}`))
    .join("; ");
  const content = {
    schemas: [scimUrns.error],
    status: String(error.status),
    ...(scimType === null ? {} : { scimType }),
    detail: detail || error.message,
    ...error.body(id),
  };
  return { status: error.status, type: `${SCIM}; charset=utf-8`, content: JSON.stringify(content) };
}

export const errorForms: Readonly<Record<MediaType, Omit<Protocol, "routes">>> = {
  [JSON_TYPE]: {},
  [SCIM]: { renderError: scimError },
};
