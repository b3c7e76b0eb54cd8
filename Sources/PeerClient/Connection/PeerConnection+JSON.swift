import Foundation
import NIOHTTP1
import PeerProtocol
import PeerTrust

extension PeerConnection {
  /// Sends a JSON request and decodes the JSON answer, regardless of its status. The answer is `nil` if it cannot be
  /// decoded.
  func exchange<Answer: Decodable>(
    _ method: HTTPMethod, _ path: String, headers: [(String, String)] = [], body: (any Encodable)? = nil,
    as type: Answer.Type
  ) async throws -> (status: Int, answer: Answer?, raw: Data) {
    var fields = headers
    var bytes: [UInt8]?
    if let body {
      fields.append(("Content-Type", "application/json"))
      bytes = Array(try JSONEncoder().encode(body))
    }
    let head = try await send(method, path, headers: fields, body: bytes)
    let data = try await self.body()
    return (Int(head.status.code), try? JSONDecoder().decode(type, from: data), data)
  }

  /// Returns the status of the server, after verifying that it is an hpeer. Call this before any other request.
  ///
  /// - Parameter server: the paired server, whose token is sent because it then answers more; nil to ask without a
  ///   token.
  public func status(as server: ServerRecord? = nil) async throws -> StatusData {
    let headers = server.map { [("Authorization", "Bearer \($0.credential.text)")] } ?? []
    let (status, answer, _) = try await exchange(
      .GET, Route.status, headers: headers, as: Envelope<StatusData>.self)
    if status == 429 || status == 503 { throw PeerError.busy(retryAfter: nil) }
    guard status == 200, var data = answer?.data else {
      throw PeerError.notHpeer(endpoint: endpoint.description, detail: "GET /status was answered with \(status)")
    }
    guard data.protocol == StatusData.protocolName else {
      throw PeerError.notHpeer(
        endpoint: endpoint.description,
        detail: data.protocol.map { "it speaks \(limits.shortened($0))" }
          ?? "it looks like the HealthAppTransfer app")
    }
    // The name appears in lists, prompts and the audit log, and is not authenticated yet.
    data.deviceName = PairingProtocol.trimmedName(data.deviceName)
    return data
  }

  /// Returns the error for an answer that is not a success.
  func failure(status: Int, raw: Data) -> PeerError {
    if status == 429 || status == 503 { return .busy(retryAfter: nil) }
    let message = (try? JSONDecoder().decode(FailureEnvelope.self, from: raw))?.error ?? "no explanation"
    return .unexpectedAnswer(status: status, message: limits.shortened(message))
  }
}
