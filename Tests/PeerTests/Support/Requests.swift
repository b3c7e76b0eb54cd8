import Foundation
import NIOHTTP1
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

/// A response of the server under test.
struct Answer: Sendable {
  var status: Int
  var headers: HTTPHeaders
  var body: Data

  var text: String { String(decoding: body, as: UTF8.self) }

  /// Parses the body as a JSON object.
  func object(sourceLocation: SourceLocation = #_sourceLocation) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any], sourceLocation: sourceLocation)
  }

  /// Returns `data` of the success envelope.
  func data(sourceLocation: SourceLocation = #_sourceLocation) throws -> [String: Any] {
    let object = try object(sourceLocation: sourceLocation)
    #expect(object["success"] as? Bool == true, sourceLocation: sourceLocation)
    return try #require(object["data"] as? [String: Any], sourceLocation: sourceLocation)
  }

  /// Returns `error` of the failure envelope.
  func failure(sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    let object = try object(sourceLocation: sourceLocation)
    #expect(object["success"] as? Bool == false, sourceLocation: sourceLocation)
    #expect(headers.first(name: "Content-Type") == "application/json", sourceLocation: sourceLocation)
    return try #require(object["error"] as? String, sourceLocation: sourceLocation)
  }

  /// Decodes the body as lines of the change feed.
  func lines() throws -> [ChangeLine] {
    var decoder = ChangeLineDecoder()
    return try body.withUnsafeBytes { try decoder.decode($0) }
  }
}

extension TestServer {
  /// Sends a request over a new connection.
  func request(
    _ method: HTTPMethod, _ path: String, token: BearerToken? = nil, headers: [(String, String)] = [],
    json: String? = nil
  ) async throws -> Answer {
    var headers = headers
    if let token { headers.append(("Authorization", "Bearer \(token.text)")) }
    let fields = headers
    return try await PeerConnection.withConnection(to: endpoint, trust: trust) { connection in
      let head = try await connection.send(method, path, headers: fields, body: json.map { Array($0.utf8) })
      return Answer(
        status: Int(head.status.code), headers: head.headers,
        body: method == .HEAD ? Data() : try await connection.body(limit: 64 << 20))
    }
  }

  /// Sends a GET request that asks for the change feed in lines, which a test can read.
  func get(_ path: String, token: BearerToken? = nil) async throws -> Answer {
    try await request(.GET, path, token: token, headers: [("Accept", ChangeFeedFormat.lines.rawValue)])
  }

  /// Sends `POST /api/v1/pair`.
  func plainPair(_ code: String, name: String? = "Mac") async throws -> Answer {
    let deviceName = name.map { #","deviceName":"\#($0)""# } ?? ""
    return try await request(.POST, Route.plainPair, json: #"{"code":"\#(code)"\#(deviceName)}"#)
  }
}
