import Foundation
import PeerProtocol

extension FuzzTarget {
  @Sendable static func pairingPayload(_ input: [UInt8]) {
    let payload: PairingPayload
    do throws(PairingPayloadError) {
      payload = try PairingPayload.parse(text(input), now: .distantPast)
    } catch {
      require(!error.description.isEmpty, "a sentence for every error")
      return
    }
    do {
      require(try PairingPayload.parse(payload.json, now: .distantPast) == payload, "JSON: \(payload.json)")
      let read = try PairingPayload.parse(payload.uri, now: .distantPast)
      require(
        read.host == payload.host && read.port == payload.port && read.fingerprint == payload.fingerprint
          && read.code == payload.code, "URI: \(payload.uri)")
    } catch {
      fatalError("broken promise: what was printed can be read: \(error) \(payload.uri) \(payload.json)")
    }
    let alphanumeric = Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8)
    require(payload.uri.utf8.allSatisfy { alphanumeric.contains($0) }, "QR alphanumeric mode: \(payload.uri)")
  }
}
