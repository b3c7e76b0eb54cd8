import Foundation
import PeerProtocol

extension FuzzTarget {
  /// Fuzzes all pairing messages and the other messages that a client reads before it trusts a server.
  @Sendable static func pairMessages(_ input: [UInt8]) {
    let data = Data(input)
    read(PairHello.self, data)
    read(PairStartRequest.self, data)
    read(PairStartResponse.self, data)
    read(PairFinishRequest.self, data)
    read(PairFinishResponse.self, data)
    read(Envelope<StatusData>.self, data)
    read(FailureEnvelope.self, data)
    read(Envelope<PairingView>.self, data)
    if let body = read(PairErrorBody.self, data), let rejection = body.rejection {
      require(PairErrorBody(rejection).rejection == rejection, "a rejection survives: \(rejection)")
    }
    let name = PairingProtocol.trimmedName(text(input))
    require((1...PairingProtocol.maximumNameByteCount).contains(name.utf8.count), "the length of '\(name)'")
    require(PairingProtocol.trimmedName(name) == name, "trimming '\(name)' again changes nothing")
  }

  @discardableResult
  private static func read<Message: Codable>(_ type: Message.Type, _ data: Data) -> Message? {
    guard let message = try? JSONDecoder().decode(type, from: data) else { return nil }
    requireRoundTrip(message)
    return message
  }
}
