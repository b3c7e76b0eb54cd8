import Foundation
import PeerProtocol

extension FuzzTarget {
  private static let seal = ChangeTokenSeal(key: Data(repeating: 7, count: 32))

  /// No input opens without the key; what was sealed opens again, and not with any other character in it.
  @Sendable static func changeToken(_ input: [UInt8]) {
    do throws(ChangeTokenError) {
      let token = try seal.token(in: text(input))
      fatalError("broken promise: nobody forges a token: \(token)")
    } catch {}
    guard input.count >= 26 else { return }
    func number(_ index: Int) -> UInt64 { input[index * 8..<index * 8 + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    let token = ChangeToken(change: Int64(number(0) >> 1), epoch: number(1), filter: number(2))
    do {
      let sealed = try seal.text(of: token)
      require(try seal.token(in: sealed) == token, "a sealed token opens")
      var letters = Array(sealed.utf8)
      let place = Int(input[24]) % letters.count
      guard letters[place] != input[25] else { return }
      letters[place] = input[25]
      let changed = String(decoding: letters, as: UTF8.self)
      require((try? seal.token(in: changed)) == nil, "a token that was changed does not open")
    } catch {
      fatalError("broken promise: a token can be sealed and opened: \(error)")
    }
  }
}
