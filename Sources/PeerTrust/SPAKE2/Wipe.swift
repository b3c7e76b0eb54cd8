import COpenSSL

/// Overwrites a secret before its memory is given back. The compiler may not leave it out.
func wipe(_ bytes: inout [UInt8]) {
  bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
}
