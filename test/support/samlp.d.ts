// The part of the identity provider library that the tests use; it has no types of its own.
declare module "samlp" {
  interface Options {
    readonly issuer: string;
    readonly audience: string;
    readonly recipient: string;
    readonly destination: string;
    readonly inResponseTo?: string;
    readonly cert: string;
    readonly key: string;
    readonly lifetimeInSeconds?: number;
    readonly signResponse?: boolean;
    readonly signAssertion?: boolean;
    readonly signatureAlgorithm: string;
    readonly digestAlgorithm: string;
    readonly encryptionCert?: string;
    readonly encryptionPublicKey?: string;
    readonly profileMapper: (user: unknown) => {
      getClaims(): Record<string, unknown>;
      getNameIdentifier(): { nameIdentifier: string; nameIdentifierFormat?: string };
    };
  }
  interface Parsed {
    readonly issuer: string;
    readonly assertionConsumerServiceURL: string;
    readonly destination: string;
    readonly id: string;
  }
  const samlp: {
    getSamlResponse(options: Options, user: unknown, done: (error: Error | null, response: string) => void): void;
    parseRequest(
      request: { method: string; query: Record<string, string> },
      done: (error: Error | null, parsed: Parsed) => void,
    ): void;
  };
  export default samlp;
}
