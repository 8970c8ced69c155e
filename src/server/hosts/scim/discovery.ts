// What identity providers ask before they send anything (RFC 7643, sections 5 to 7; RFC 7644, section 4).
import { scimUrns } from "../../../api/hosts/scim.ts";

const listResponse = <T>(resources: T[]) => ({
  schemas: [scimUrns.list],
  totalResults: resources.length,
  startIndex: 1,
  itemsPerPage: resources.length,
  Resources: resources,
});

const supported = (is: boolean) => ({ supported: is });

export const serviceProviderConfig = (place: string) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
  patch: supported(true),
  bulk: { ...supported(false), maxOperations: 0, maxPayloadSize: 0 },
  filter: { ...supported(true), maxResults: 100 },
  changePassword: supported(false),
  sort: supported(false),
  etag: supported(false),
  authenticationSchemes: [
    {
      type: "oauthbearertoken",
      name: "API token",
      description: "The token of an API-only user, in the header Authorization: Bearer",
      primary: true,
    },
  ],
  meta: { resourceType: "ServiceProviderConfig", location: `${place}/ServiceProviderConfig` },
});

const resourceType = (place: string, name: string, schema: string, extensions: readonly string[]) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
  id: name,
  name,
  endpoint: `/${name}s`,
  schema,
  schemaExtensions: extensions.map((extension) => ({ schema: extension, required: false })),
  meta: { resourceType: "ResourceType", location: `${place}/ResourceTypes/${name}` },
});

export const resourceTypes = (place: string) =>
  listResponse([
    resourceType(place, "User", scimUrns.user, [scimUrns.enterprise]),
    resourceType(place, "Group", scimUrns.group, []),
  ]);

type Kind = "string" | "boolean" | "reference" | "complex";
type Attribute = Record<string, unknown>;

const attribute = (name: string, type: Kind, more: Attribute = {}): Attribute => ({
  name,
  type,
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: "readWrite",
  returned: "default",
  uniqueness: "none",
  ...more,
});
const text = (name: string, more?: Attribute) => attribute(name, "string", more);
const many = (name: string, subAttributes: readonly Attribute[], more?: Attribute) =>
  attribute(name, "complex", { multiValued: true, subAttributes, ...more });
const references = (name: string, type: string, more?: Attribute) =>
  many(name, [text("value"), text("display"), attribute("$ref", "reference", { referenceTypes: [type] })], more);
const unique = { required: true, uniqueness: "server" };

const schema = (place: string, id: string, name: string, attributes: readonly Attribute[]) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
  id,
  name,
  attributes,
  meta: { resourceType: "Schema", location: `${place}/Schemas/${id}` },
});

export const schemas = (place: string) =>
  listResponse([
    schema(place, scimUrns.user, "User", [
      text("userName", unique),
      text("externalId", { caseExact: true }),
      attribute("name", "complex", { subAttributes: [text("formatted"), text("familyName"), text("givenName")] }),
      text("displayName"),
      attribute("active", "boolean"),
      many("emails", [text("value"), text("type"), attribute("primary", "boolean")]),
      references("groups", "Group", { mutability: "readOnly" }),
    ]),
    schema(place, scimUrns.group, "Group", [
      text("displayName", unique),
      text("externalId", { caseExact: true }),
      references("members", "User"),
    ]),
    schema(place, scimUrns.enterprise, "EnterpriseUser", [text("department")]),
  ]);
