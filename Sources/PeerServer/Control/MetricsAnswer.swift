/// A minimal HTTP responder that answers only `/metrics`.
struct MetricsAnswer: Sendable {
  /// Returns the metrics in the text format of Prometheus, version 0.0.4.
  let metrics: @Sendable () async -> String

  /// Returns the complete response, after which the connection ends, or `nil` if the line is not an HTTP request.
  ///
  /// - Parameter line: the first line of the request.
  func answer(to line: String) async -> String? {
    let words = line.split(separator: " ")
    guard words.count == 3, words[2].utf8.starts(with: "HTTP/1.".utf8) else { return nil }
    guard words[0] == "GET" || words[0] == "HEAD" else {
      return Self.text("405 Method Not Allowed", "", "Allow: GET, HEAD\r\n")
    }
    let path = words[1].prefix { $0 != "?" }
    guard path == "/metrics" else { return Self.text("404 Not Found", "Only /metrics is here.\n") }
    let body = await metrics()
    return Self.text("200 OK", body, isHead: words[0] == "HEAD")
  }

  static func text(_ status: String, _ body: String, _ fields: String = "", isHead: Bool = false) -> String {
    """
    HTTP/1.1 \(status)\r
    Content-Type: text/plain; version=0.0.4; charset=utf-8\r
    Content-Length: \(body.utf8.count)\r
    Cache-Control: no-store\r
    Connection: close\r
    \(fields)\r

    """ + (isHead ? "" : body)
  }
}
