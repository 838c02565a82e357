//! Certificates and keys in PEM, and what TLS makes of them.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig};

use super::secret_file::{FileSecrecy, FileStamp, WebFileError, read_guarded};
use super::web_config::{MinVersion, TlsServerConfig};

/// The side of a server, by the files that the configuration names.
pub fn server_tls(
    config: &TlsServerConfig,
    stamps: &mut Vec<FileStamp>,
) -> Result<Arc<ServerConfig>, WebFileError> {
    let (cert, key) = (&config.cert_file, &config.key_file);
    let chain = read_certificates(cert, stamps)?;
    let secret = read_guarded(key, FileSecrecy::Secret, stamps)?;
    let secret = PrivateKeyDer::from_pem_slice(&secret)
        .map_err(|_| WebFileError::certificate(key, "it has no private key in PEM without a password"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = match config.min_version {
        MinVersion::Tls12 => &[&TLS13, &TLS12][..],
        MinVersion::Tls13 => &[&TLS13][..],
    };
    let wrong =
        |file: &Path, error: &dyn std::fmt::Display| WebFileError::certificate(file, error.to_string());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .map_err(|error| wrong(cert, &error))?;
    let builder = match &config.client_ca_file {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let roots = Arc::new(read_roots(file, stamps)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| wrong(file, &error))?)
        }
    };
    let mut tls = builder.with_single_cert(chain, secret).map_err(|error| {
        let what = format!("it does not go with the key in {}: {error}", key.display());
        WebFileError::certificate(cert, what)
    })?;
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(tls))
}

/// The certificates that a file names as trusted.
pub fn read_roots(file: &Path, stamps: &mut Vec<FileStamp>) -> Result<RootCertStore, WebFileError> {
    let mut roots = RootCertStore::empty();
    for certificate in read_certificates(file, stamps)? {
        let added = roots.add(certificate);
        added.map_err(|error| {
            WebFileError::certificate(file, format!("a certificate is not usable: {error}"))
        })?;
    }
    Ok(roots)
}

fn read_certificates(
    file: &Path,
    stamps: &mut Vec<FileStamp>,
) -> Result<Vec<CertificateDer<'static>>, WebFileError> {
    let bytes = read_guarded(file, FileSecrecy::Genuine, stamps)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(WebFileError::certificate(file, "it has no certificate in PEM")),
        Err(error) => Err(WebFileError::certificate(file, format!("it is no PEM: {error}"))),
    }
}
