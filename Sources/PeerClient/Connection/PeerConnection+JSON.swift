import Foundation
import NIOHTTP1
import PeerProtocol
import PeerTrust

extension PeerConnection {
  /// Sends JSON and decodes the JSON that comes back, whatever the status; `nil` where it is none.
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

  /// Makes sure that an hpeer answers here before anything else is said to it.
  ///
  /// - Parameter server: the paired server that answers, which tells a client more than a stranger; nil for a stranger.
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
    // It goes into lists, prompts and the audit log, and nobody has vouched for it yet.
    data.deviceName = PairingProtocol.trimmedName(data.deviceName)
    return data
  }

  /// What an answer that is not a success says.
  func failure(status: Int, raw: Data) -> PeerError {
    if status == 429 || status == 503 { return .busy(retryAfter: nil) }
    let message = (try? JSONDecoder().decode(FailureEnvelope.self, from: raw))?.error ?? "no explanation"
    return .unexpectedAnswer(status: status, message: limits.shortened(message))
  }
}
