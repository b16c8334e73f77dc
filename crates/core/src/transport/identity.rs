//! Who a node is: a throw-away certificate authority in memory, and the certificates it issues.
//!
//! Each node has a certificate for the DNS name of its [`NodeId`], signed by the runtime's authority, which never leaves
//! the driver's memory. A peer proves that it is a member by any such certificate, and *which* by the name in it.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use serde::{Deserialize, Serialize};

use crate::id::NodeId;

/// Failed to make certificates.
#[derive(Debug, thiserror::Error)]
#[error("make certificates: {0}")]
pub(crate) struct IdentityError(#[from] rcgen::Error);

/// The authority of one runtime.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    /// A new authority, known to nobody yet.
    pub(crate) fn new() -> Result<Self, IdentityError> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        params.distinguished_name.push(DnType::CommonName, "mobula runtime");
        Ok(Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate()?)? })
    }

    /// A certificate and key for `node`.
    pub(crate) fn issue(&self, node: NodeId) -> Result<Identity, IdentityError> {
        let mut params = CertificateParams::new(vec![node.dns_name()])?;
        params.distinguished_name.push(DnType::CommonName, node.to_string());
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Identity {
            authority: self.issuer.der().to_vec(),
            certificate: certificate.der().to_vec(),
            key: key.serialize_der(),
        })
    }
}

/// What a node shows to others and checks others against. DER throughout; the key is PKCS #8.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Identity {
    authority: Vec<u8>,
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Identity {
    pub(crate) fn authority(&self) -> CertificateDer<'static> {
        CertificateDer::from(self.authority.clone())
    }

    pub(crate) fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![CertificateDer::from(self.certificate.clone())]
    }

    pub(crate) fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()))
    }
}

/// Whether a certificate, already verified against the authority, was issued for `node`.
pub(crate) fn is_for(certificate: &CertificateDer<'_>, node: NodeId) -> bool {
    let Ok(name) = ServerName::try_from(node.dns_name()) else { return false };
    webpki::EndEntityCert::try_from(certificate)
        .is_ok_and(|certificate| certificate.verify_is_valid_for_subject_name(&name).is_ok())
}

#[cfg(test)]
mod tests {
    //! A certificate is for one node only.

    use super::*;

    #[test]
    fn a_certificate_is_for_its_node_only() {
        let authority = Authority::new().unwrap();
        let (one, two) = (NodeId::new(1), NodeId::new(2));
        let certificate = authority.issue(one).unwrap().chain().remove(0);
        assert!(is_for(&certificate, one));
        assert!(!is_for(&certificate, two));
        assert!(!is_for(&CertificateDer::from(vec![1, 2, 3]), one));
    }
}
