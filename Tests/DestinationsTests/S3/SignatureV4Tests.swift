import Foundation
import HealthModel
import TestSupport
import Testing

@testable import Destinations

@Suite("Signatures of version 4")
struct SignatureV4Tests {
  // MARK: AWS's own suite

  private static let suite = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Tools/sigv4")

  private struct Context: Decodable {
    struct Credentials: Decodable {
      var access_key_id: String
      var secret_access_key: String
      var token: String?
    }
    var credentials: Credentials
    var normalize: Bool
    var region: String
    var service: String
    var sign_body: Bool
    var timestamp: String
    var omit_session_token: Bool?
  }

  /// The parts of an HTTP request that the test suite uses.
  private struct WrittenRequest {
    var method = ""
    var path = ""
    var query: [(name: String, value: String)] = []
    var headers: [(name: String, value: String)] = []
    var body = ""

    init(_ text: String) {
      let parts = text.replacingOccurrences(of: "\r\n", with: "\n").components(separatedBy: "\n\n")
      body = parts.dropFirst().joined(separator: "\n\n")
      var lines = parts[0].components(separatedBy: "\n")
      let words = lines.removeFirst().split(separator: " ").map(String.init)
      method = words[0]
      let target = words[1..<(words.count - 1)].joined(separator: " ").split(separator: "?", maxSplits: 1)
      path = String(target[0])
      for pair in target.dropFirst().first?.split(separator: "&") ?? [] {
        let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
          $0.removingPercentEncoding ?? ""
        }
        query.append((sides[0], sides.count > 1 ? sides[1] : ""))
      }
      for line in lines where !line.isEmpty {
        if line.hasPrefix(" "), !headers.isEmpty {
          headers[headers.count - 1].value += "\n" + line
        } else {
          let sides = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
          headers.append((sides[0], sides[1]))
        }
      }
    }
  }

  private static let cases =
    ((try? FileManager.default.contentsOfDirectory(atPath: suite.path)) ?? [])
    .filter { $0.hasPrefix("get-") || $0.hasPrefix("post-") }.sorted()

  @Test("all cases are here")
  func completeness() { #expect(Self.cases.count == 38) }

  @Test("AWS's suite", arguments: cases)
  func awsSuite(name: String) throws {
    func file(_ file: String) throws -> String {
      try String(contentsOf: Self.suite.appending(path: "\(name)/\(file)"), encoding: .utf8)
    }
    let context = try JSONDecoder().decode(Context.self, from: Data(file("context.json").utf8))
    let written = WrittenRequest(try file("request.txt"))
    let signature = SignatureV4(
      credentials: AWSCredentials(
        accessKey: context.credentials.access_key_id, secretKey: context.credentials.secret_access_key,
        sessionToken: context.credentials.token),
      region: context.region, service: context.service, pathForm: context.normalize ? .normalized : .encoded)
    let instant = try #require(Timestamp(iso8601: context.timestamp))
    var request = SignatureV4.Request(
      method: written.method, path: written.path, query: written.query, headers: written.headers,
      payloadHash: SignatureV4.hash(Array(written.body.utf8)))
    let headers = signature.signedHeaders(
      of: request, at: instant, signsPayloadHash: context.sign_body, signsToken: context.omit_session_token != true)
    let authorization = try #require(headers.first { $0.name == "authorization" }?.value)
    #expect(authorization.hasSuffix("Signature=\(try file("header-signature.txt"))"))
    let unsigned: Set =
      context.omit_session_token == true ? ["authorization", "x-amz-security-token"] : ["authorization"]
    request.headers = headers.filter { !unsigned.contains($0.name) }
    #expect(signature.canonicalRequest(of: request) == (try file("header-canonical-request.txt")))
    #expect(signature.stringToSign(for: request, at: instant) == (try file("header-string-to-sign.txt")))
  }

  // MARK: S3's documentation

  @Test(
    "the examples of S3's documentation",
    arguments: [
      ("/test.txt", [], "bytes=0-9", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
      (
        "/", [["max-keys", "2"], ["prefix", "J"]], nil,
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
      ),
    ] as [(String, [[String]], String?, String)])
  func documentation(path: String, query: [[String]], range: String?, signature: String) throws {
    let signer = SignatureV4(
      credentials: AWSCredentials(
        accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), region: "us-east-1")
    let headers = signer.signedHeaders(
      of: SignatureV4.Request(
        method: "GET", path: path, query: query.map { ($0[0], $0[1]) },
        headers: [("host", "examplebucket.s3.amazonaws.com")] + (range.map { [("range", $0)] } ?? []),
        payloadHash: SignatureV4.hash([])),
      at: try #require(Timestamp(iso8601: "2013-05-24T00:00:00Z")))
    #expect(headers.first { $0.name == "authorization" }?.value.hasSuffix("Signature=\(signature)") == true)
  }

  // MARK: botocore

  private struct Foreign: Codable {
    var method: String
    var host: String
    var path: String
    var query: [[String]]
    var headers: [[String]]
    var body: String
    var token: String?
    var region: String
    var authorization: String?
  }

  private static let environment = PythonEnvironment("s3")

  @Test(
    "random requests are signed as botocore signs them",
    .enabled(if: environment.program("python") != nil, "\(environment.missing)"))
  func randomRequests() throws {
    var random = SeededGenerator(seed: 44)
    let letters = Array("abcXYZ019-_.~ +=&?%#/\\\"'()!*ü€😀")
    func text(_ range: ClosedRange<Int>) -> String {
      String((0..<Int.random(in: range, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" })
    }
    let requests = (0..<300).map { _ in
      Foreign(
        method: ["GET", "PUT", "POST", "DELETE"].randomElement(using: &random) ?? "GET",
        host: "bucket.example.org:9000",
        path: "/" + SignatureV4.encoded(text(0...20), keeping: "/"),
        query: (0..<Int.random(in: 0...3, using: &random)).map { ["k\($0)" + text(0...6), text(0...8)] },
        headers: (0..<Int.random(in: 0...3, using: &random)).map { index in
          ["x-amz-meta-\(index)", ["a  b", " c ", "d,e", "\"f\"", "g"].randomElement(using: &random) ?? "a"]
        },
        body: text(0...40), token: random.oneIn(3) ? "to/ken+=" : nil, region: "eu-central-1")
    }
    let folder = try TemporaryDirectory()
    let path = folder.path("requests.json")
    try JSONEncoder().encode(requests).write(to: URL(filePath: path))
    let script = """
      import datetime, json, sys
      from urllib.parse import quote
      import botocore.auth, botocore.compat
      from botocore.auth import S3SigV4Auth
      from botocore.awsrequest import AWSRequest
      from botocore.credentials import Credentials
      now = datetime.datetime(2024, 6, 15, 10, 30, tzinfo=datetime.timezone.utc)
      class Frozen(datetime.datetime):
          @classmethod
          def now(cls, tz=None): return now if tz else now.replace(tzinfo=None)
          @classmethod
          def utcnow(cls): return now.replace(tzinfo=None)
      for module in (botocore.auth, botocore.compat):
          if hasattr(module, "get_current_datetime"):
              module.get_current_datetime = lambda remove_tzinfo=True: now.replace(tzinfo=None) if remove_tzinfo else now
          if hasattr(module, "datetime"): module.datetime = type("m", (), {"datetime": Frozen}) if not isinstance(module.datetime, type) else Frozen
      requests = json.load(open(sys.argv[1]))
      for r in requests:
          query = "&".join(quote(k, safe="-_.~") + "=" + quote(v, safe="-_.~") for k, v in r["query"])
          url = "https://" + r["host"] + r["path"] + ("?" + query if query else "")
          request = AWSRequest(r["method"], url, headers=dict(r["headers"]), data=r["body"].encode())
          request.context["payload_signing_enabled"] = True
          S3SigV4Auth(Credentials("AKID", "secret/key+", r.get("token")), "s3", r["region"]).add_auth(request)
          r["authorization"] = request.headers["Authorization"]
      json.dump(requests, open(sys.argv[1], "w"))
      """
    let said = try output(of: Self.environment.program("python") ?? "", ["-c", script, path])
    try #require(said.status == 0, "\(said.text)")
    let instant = try #require(Timestamp(iso8601: "2024-06-15T10:30:00Z"))
    let signed = try JSONDecoder().decode([Foreign].self, from: Data(contentsOf: URL(filePath: path)))
    #expect(signed.count == 300)
    for request in signed {
      let signer = SignatureV4(
        credentials: AWSCredentials(accessKey: "AKID", secretKey: "secret/key+", sessionToken: request.token),
        region: request.region)
      let headers = signer.signedHeaders(
        of: SignatureV4.Request(
          method: request.method, path: request.path, query: request.query.map { ($0[0], $0[1]) },
          headers: [("host", request.host)] + request.headers.map { ($0[0], $0[1]) },
          payloadHash: SignatureV4.hash(Array(request.body.utf8))), at: instant)
      #expect(headers.first { $0.name == "authorization" }?.value == request.authorization, "\(request)")
    }
  }
}
