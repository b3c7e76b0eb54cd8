import Foundation

/// One HTTP request to an app that reads a request once and answers it: head and body are one text, so that they leave in
/// one TLS record, and field names have the case that the app compares.
public struct AppRequest: Hashable, Sendable {
  /// The methods that the apps know and hpeer sends.
  public enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
  }

  let method: Method
  /// The request target: with its query, already encoded.
  let path: String
  /// In the order in which they are sent.
  private let fields: [Field]
  private let body: [UInt8]?

  private struct Field: Hashable {
    var name: String
    var value: String
  }

  /// - Parameters:
  ///   - token: the bearer token, where the request has one; a secret.
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

  /// The whole request, less than one TLS record holds.
  ///
  /// - Parameter endpoint: what it is sent to.
  package func bytes(to endpoint: PeerEndpoint) -> [UInt8] {
    var text = "\(method.rawValue) \(path) HTTP/1.1\r\nHost: \(endpoint)\r\n"
    for field in fields { text += "\(field.name): \(field.value)\r\n" }
    text += "Accept: application/json\r\nConnection: close\r\n\r\n"
    return Array(text.utf8) + (body ?? [])
  }
}

/// What an app answered.
public struct AppAnswer: Hashable, Sendable {
  /// 100 to 599.
  public var status: Int
  /// Whole.
  public var body: [UInt8]

  /// The body as text, for comparisons with what an app is known to say: without white space around it.
  var text: String {
    String(decoding: body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// - Parameter body: whole.
  package init(status: Int, body: [UInt8]) {
    (self.status, self.body) = (status, body)
  }
}
