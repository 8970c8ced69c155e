// Namespaces, actions and types of device enrollment (MS-MDE2 with MS-XCEP and MS-WSTEP).

export const ns = {
  soap: "http://www.w3.org/2003/05/soap-envelope",
  addressing: "http://www.w3.org/2005/08/addressing",
  discovery: "http://schemas.microsoft.com/windows/management/2012/01/enrollment",
  policy: "http://schemas.microsoft.com/windows/pki/2009/01/enrollmentpolicy",
  enrollment: "http://schemas.microsoft.com/windows/pki/2009/01/enrollment",
  trust: "http://docs.oasis-open.org/ws-sx/ws-trust/200512",
  security: "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd",
  utility: "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd",
  authorization: "http://schemas.xmlsoap.org/ws/2006/12/authorization",
  schema: "http://www.w3.org/2001/XMLSchema-instance",
} as const;

export const actions = {
  discover: `${ns.discovery}/IDiscoveryService/Discover`,
  discovered: `${ns.discovery}/IDiscoveryService/DiscoverResponse`,
  getPolicies: `${ns.policy}/IPolicy/GetPolicies`,
  policies: `${ns.policy}/IPolicy/GetPoliciesResponse`,
  requestToken: `${ns.enrollment}/RST/wstep`,
  token: `${ns.enrollment}/RSTRC/wstep`,
  fault: "http://schemas.microsoft.com/windows/pki/2009/01/enrollment/rstr/fault",
} as const;

const configurationManager = "http://schemas.microsoft.com/5.0.0.0/ConfigurationManager/Enrollment";

/** Types of security tokens. */
export const tokenTypes = {
  /** A token of this server. */
  user: `${configurationManager}/DeviceEnrollmentUserToken`,
  /** A token of the organization's directory. */
  directory: "urn:ietf:params:oauth:token-type:jwt",
  device: `${configurationManager}/DeviceEnrollmentToken`,
  provisioning: `${configurationManager}/DeviceEnrollmentProvisionDoc`,
} as const;

export const requestTypes = { issue: `${ns.trust}/Issue`, renew: `${ns.trust}/Renew` } as const;

export const valueTypes = { pkcs10: `${ns.enrollment}#PKCS10`, pkcs7: `${ns.enrollment}#PKCS7` } as const;
export const BASE64 = `${ns.security}#base64binary`;
