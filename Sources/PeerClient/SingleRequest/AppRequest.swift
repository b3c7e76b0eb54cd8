import Foundation

/// An HTTP request to an app that reads a request only once. Head and body are sent in one TLS record, and field
/// names have the case that the app expects.
public struct AppRequest: Hashable, Sendable {
  /// The HTTP methods that the apps support and hpeer uses.
  public enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
  }

  let method: Method
  /// The request target with its query, already percent-encoded.
  let path: String
  /// The header fields in the order in which they are sent.
  private let fields: [Field]
  private let body: [UInt8]?

  private struct Field: Hashable {
    var name: String
    var value: String
  }

  /// - Parameters:
  ///   - token: the bearer token, if the request has one; a secret.
  ///   - json: the body; `nil` for none.
  init(_ method: Method, _ path: String, token: String? = nil, json: [UInt8]? = nil) {
    (self.method, self.path, body) = (method, path, json)
    var fields: [Field] = []
    if let token { fields.append(Field(name: "Authorization", value: "Bearer \(token)")) }
    if let json {
      fields.append(Field(name: "Content-Type", value: "application/json"))
      fields.append(Field(name: "Content-Length", value: String(json.count)))
    }
    self.fields = fields
  }

  /// Returns the serialized request, which fits into one TLS record.
  ///
  /// - Parameter endpoint: the endpoint to which it is sent.
  package func bytes(to endpoint: PeerEndpoint) -> [UInt8] {
    var text = "\(method.rawValue) \(path) HTTP/1.1\r\nHost: \(endpoint)\r\n"
    for field in fields { text += "\(field.name): \(field.value)\r\n" }
    text += "Accept: application/json\r\nConnection: close\r\n\r\n"
    return Array(text.utf8) + (body ?? [])
  }
}

/// The answer of an app.
public struct AppAnswer: Hashable, Sendable {
  /// The HTTP status, 200 to 599.
  public var status: Int
  /// The complete body.
  public var body: [UInt8]

  /// The body as text without surrounding white space, for comparison with the app's known answers.
  var text: String {
    String(decoding: body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// - Parameter body: the complete body.
  package init(status: Int, body: [UInt8]) {
    (self.status, self.body) = (status, body)
  }
}
